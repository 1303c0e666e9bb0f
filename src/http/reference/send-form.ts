/** The form on the page of an operation that sends its request. send-request.js does it; the form alone sends nothing. */

import type { Operation, ParameterObject, SchemaObject } from '../openapi/document.ts';
import { type Html, html } from '../pages/html.ts';
import { toSampleText } from './curl-sample.ts';

/** Returns null for operations of web pages, which a browser opens by itself. */
export function sendForm(operation: Operation): Html | null {
  const { method, path, parameters = [], security = [], requestBody, responses } = operation;
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'));
  if (success === undefined || success[1].content?.['text/html'] !== undefined) {
    return null;
  }
  const required = parameters.filter(({ required: isRequired }) => isRequired === true);
  const optional = parameters.filter((parameter) => !required.includes(parameter));
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return html`<h2 id="send">Send this request</h2>
<noscript><p>The form needs the script of this page. The command below sends the same request.</p></noscript>
<form class="send" hidden autocomplete="off" data-method="${method}" data-path="${path}" data-type="${type ?? ''}">
${security.length === 0 ? null : credentialField}
${required.map(parameterField)}
${optional.length === 0 ? null : html`<details><summary>Optional parameters</summary>${optional.map(parameterField)}</details>`}
${type === undefined ? null : bodyFields(type, media?.schema, media?.example)}
<p class="actions"><button class="button">Send</button> <button class="button" type="reset" disabled>Stop</button></p>
</form>
<pre tabindex="0" role="status" aria-label="Response" hidden></pre>`;
}

const credentialField = html`<label><span>API key or token</span>
<input type="password" autocomplete="off" spellcheck="false" data-in="credential">
<small>It is sent in the header Authorization, and is not stored.</small></label>`;

function parameterField(parameter: ParameterObject): Html {
  const { name, in: place, required, schema } = parameter;
  const attributes =
    required === true
      ? html` required value="${toSampleText(parameter)}"`
      : html` placeholder="${hintOf(schema)}"`;
  return html`<label><span><code>${name}</code> ${place}</span>
<input data-in="${place}" data-name="${name}" spellcheck="false"${attributes}></label>`;
}

/** An example, or the values that are possible. */
const hintOf = ({ examples, default: preset, items, enum: values = items?.enum }: SchemaObject): string =>
  String(preset ?? examples?.[0] ?? values?.join(', ') ?? '');

/** A text for JSON, and a field for each member of a form. */
function bodyFields(type: string, schema: SchemaObject | undefined, example: unknown): Html {
  const { properties, required = [] } = schema ?? {};
  if (type.endsWith('json') || properties === undefined) {
    const text = typeof example === 'string' ? example : JSON.stringify(example ?? {}, null, 2);
    return html`<label><span>Body</span><textarea data-in="body" rows="10" spellcheck="false">${text}</textarea></label>`;
  }
  const fields = Object.entries(properties).map(([name, { format }]) => {
    const isRequired = required.includes(name) ? html` required` : null;
    return html`<label><span><code>${name}</code> form</span>
<input type="${format === 'binary' ? 'file' : 'text'}" data-in="form" data-name="${name}"${isRequired}></label>`;
  });
  return html`${fields}`;
}

/**
 * The reference: an overview, and a page for each operation and each schema. Plain HTML, readable without a script. The page of
 * an operation can send its request by a script of this server.
 */

import {
  type MediaType,
  nameIn,
  type OpenapiDocument,
  type Operation,
  operationsIn,
  type SchemaObject,
} from '../openapi/document.ts';
import { type Html, html } from '../pages/html.ts';
import { layout } from '../pages/layout.ts';
import { curlSample } from './curl-sample.ts';
import { blocks, inline } from './markdown.ts';
import { referencePath, scriptPath, stylePath } from './paths.ts';
import { describe, describeType, schemaPath, schemaTable } from './schema-table.ts';
import { sendForm } from './send-form.ts';

const operationPath = (id: string): string => `/docs/operations/${id}`;

const script = html`<script type="module" src="${scriptPath}"></script>`;

/** Makes the pages of one document. Each method returns a whole HTML document, or null for a name that does not exist. */
export class ReferencePages {
  readonly #document: OpenapiDocument;
  readonly #operations: readonly Operation[];

  constructor(document: OpenapiDocument) {
    this.#document = document;
    this.#operations = operationsIn(document);
  }

  /** Guides, and links to all operations, webhooks and schemas. */
  overview(): string {
    const { info, tags, webhooks, components } = this.#document;
    const groups = tags.map(({ name, description }) => {
      const operations = this.#operations.filter(({ tag }) => tag === name);
      return html`<section><h3 id="${anchorOf(name)}">${name}</h3><p>${inline(description)}</p>
<ul class="operations">${operations.map(operationLink)}</ul></section>`;
    });
    const events = Object.entries(webhooks).map(([type, { post }]) => {
      const schema = Object.values(post.requestBody?.content ?? {})[0]?.schema?.$ref ?? '';
      return html`<li><a href="${schemaPath(nameIn(schema))}"><code>${type}</code> ${inline(post.summary)}</a></li>`;
    });
    const schemas = Object.keys(components.schemas).map(
      (name) => html`<li><a href="${schemaPath(name)}">${name}</a></li>`,
    );
    return page(
      info.title,
      `Guides, operations and schemas of ${info.title}.`,
      html`<h1>${info.title}</h1>
<nav aria-label="On this page"><ul class="tags">${tags.map(
        ({ name }) => html`<li><a href="#${anchorOf(name)}">${name}</a></li>`,
      )}<li><a href="#webhooks-sent">Webhooks that are sent</a></li><li><a href="#schemas">Schemas</a></li></ul></nav>
<p><a href="/openapi.json">OpenAPI document</a></p>
<section class="guides">${blocks(info.description)}</section>
<h2 id="operations">Operations</h2>
${groups}
<h2 id="webhooks-sent">Webhooks that are sent</h2>
<ul class="operations">${events}</ul>
<h2 id="schemas">Schemas</h2>
<ul class="schemas">${schemas}</ul>`,
    );
  }

  operation(id: string): string | null {
    const operation = this.#operations.find((candidate) => candidate.id === id);
    if (operation === undefined) {
      return null;
    }
    const { tag, method, path, summary = id } = operation;
    const form = sendForm(operation);
    return page(
      `${summary} · ${this.#document.info.title}`,
      `${method} ${path}: ${summary}.`,
      html`${breadcrumb(html`<a href="${referencePath}#${anchorOf(tag)}">${tag}</a>`)}
<h1>${summary}</h1>
<p class="request"><span class="method">${method}</span> <code>${path}</code></p>
${operation.deprecated === true ? html`<p class="deprecated">This operation is deprecated.</p>` : null}
${blocks(operation.description)}
${credentials(operation)}
${form === null ? null : html`<p class="actions"><a class="button" href="#send">Send this request</a></p>`}
${parameters(operation)}
${this.#body(operation)}
${form}
${samples(operation)}
<h2>Responses</h2>
${Object.entries(operation.responses).map(
  ([status, { description, content = {} }]) =>
    html`<details${status.startsWith('2') ? openAttribute : null}><summary><code>${status}</code> ${inline(description)}</summary>${status.startsWith('2') ? this.#contents(content) : contents(content)}</details>`,
)}`,
      form === null ? null : script,
    );
  }

  schema(name: string): string | null {
    const schema = Object.hasOwn(this.#document.components.schemas, name)
      ? this.#document.components.schemas[name]
      : undefined;
    if (schema === undefined) {
      return null;
    }
    const users = this.#operations.filter((operation) => refersTo(operation, name));
    return page(
      `${name} · ${this.#document.info.title}`,
      `The fields of the schema ${name}.`,
      html`${breadcrumb(html`<a href="${referencePath}#schemas">Schemas</a>`)}
<h1>${name}</h1>
${blocks(schema.description)}
${schemaTable(schema)}
${exampleBlock(schema.examples?.[0])}
${users.length === 0 ? null : html`<h2>Used by</h2><ul class="operations">${users.map(operationLink)}</ul>`}`,
    );
  }

  #body({ requestBody }: Operation): Html | null {
    return requestBody === undefined
      ? null
      : html`<h2>Body</h2>
${requestBody.required === true ? null : html`<p>Optional.</p>`}${this.#contents(requestBody.content)}`;
  }

  /** Contents with the fields of the schema that they name, so that most readers need no second page. */
  #contents(content: Readonly<Record<string, MediaType>>): Html[] {
    return contents(content, ({ $ref }) => {
      const schema = this.#document.components.schemas[nameIn($ref ?? '')];
      return schema?.properties === undefined ? null : schemaTable(schema);
    });
  }
}

const openAttribute = html` open`;

const anchorOf = (name: string): string => name.toLowerCase().replaceAll(' ', '-');

const operationLink = ({ id, method, path, summary }: Operation): Html =>
  html`<li><a href="${operationPath(id)}"><span class="method">${method}</span> <code>${path}</code> <span>${summary ?? id}</span></a></li>`;

const breadcrumb = (parent: Html): Html =>
  html`<nav aria-label="Breadcrumb"><a href="${referencePath}">API reference</a> / ${parent}</nav>`;

function page(title: string, description: string, content: Html, script: Html | null = null): string {
  const head = html`<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<link rel="stylesheet" href="${stylePath}">${script}`;
  return layout({ title, description, head, body: content });
}

const schemeNames: Readonly<Record<string, string>> = {
  apiKey: 'an API key',
  oauth: 'an OAuth token',
  publishableKey: 'a publishable key, also in the URL',
  session: 'a session that a login returned',
};

function credentials({ security = [] }: Operation): Html | null {
  if (security.length === 0) {
    return html`<p>Needs no credential.</p>`;
  }
  const items = security.map((requirement) => {
    const parts = Object.entries(requirement).map(([scheme, scopes], index) => {
      const scope =
        scopes.length === 0
          ? null
          : html` with the scope ${scopes.map((scope) => html`<code>${scope}</code> `)}`;
      return html`${index === 0 ? null : ' together with '}${schemeNames[scheme] ?? scheme}${scope}`;
    });
    return html`<li>${parts.length === 0 ? 'no credential' : parts}</li>`;
  });
  return html`<p>Credential, one of:</p><ul>${items}</ul>`;
}

function parameters({ parameters = [] }: Operation): Html | null {
  if (parameters.length === 0) {
    return null;
  }
  const rows = parameters.map(
    ({ name, in: place, required, description, schema }) =>
      html`<tr><th scope="row"><code>${name}</code>${required === true ? html` <span class="required">required</span>` : null}</th>
<td>${place}</td><td>${describeType(schema)}</td><td>${describe(schema, description)}</td></tr>`,
  );
  return html`<h2>Parameters</h2>
<div class="table"><table>
<thead><tr><th scope="col">Name</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">Description</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

/** @param fieldsOf the fields of a schema that is named */
function contents(
  content: Readonly<Record<string, MediaType>>,
  fieldsOf: (schema: SchemaObject) => Html | null = () => null,
): Html[] {
  return Object.entries(content).map(
    ([type, { schema, example }]) => html`<h3><code>${type}</code></h3>
${schema === undefined ? null : html`${schemaTable(schema)}${fieldsOf(schema)}`}${exampleBlock(example)}`,
  );
}

const code = (text: string): Html => html`<pre tabindex="0"><code>${text}</code></pre>`;

function exampleBlock(example: unknown): Html | null {
  return example === undefined
    ? null
    : code(typeof example === 'string' ? example : JSON.stringify(example, null, 2));
}

function samples(operation: Operation): Html {
  const others = (operation['x-codeSamples'] ?? []).map(
    ({ label, source }) => html`<h3>${label}</h3>${code(source)}`,
  );
  return html`<h2>Example</h2><h3>curl</h3>${code(curlSample(operation))}${others}`;
}

/** Whether a schema is named anywhere in an operation. */
function refersTo(operation: Operation, name: string): boolean {
  return JSON.stringify(operation).includes(`"#/components/schemas/${name}"`);
}

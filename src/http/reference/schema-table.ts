/** Schemas as tables of their fields. */

import { nameIn, type SchemaObject } from '../openapi/document.ts';
import { type Html, html } from '../pages/html.ts';
import { inline } from './markdown.ts';

/** The path of the page of a schema. */
export const schemaPath = (name: string): string => `/docs/schemas/${name}`;

/** The fields of an object or of the items of an array; a line about any other schema. */
export function schemaTable(schema: SchemaObject): Html {
  const alternatives = alternativesOf(schema);
  const { properties = schema.items?.properties } = schema;
  if (schema.$ref !== undefined || alternatives.length > 0 || properties === undefined) {
    return html`<p>${describeType(schema)}${limitsOf(schema)}</p>`;
  }
  const required = schema.required ?? schema.items?.required ?? [];
  return html`<div class="table"><table>
<thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Description</th></tr></thead>
<tbody>${rowsOf(properties, required, '')}</tbody>
</table></div>`;
}

/** A row for each field, and for each field of an object that has no page. */
function rowsOf(
  properties: Readonly<Record<string, SchemaObject>>,
  required: readonly string[],
  prefix: string,
): Html[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${prefix}${name}`;
    const isList = schema.items?.properties !== undefined;
    const inner = schema.properties ?? schema.items?.properties ?? {};
    const innerRequired = schema.required ?? schema.items?.required ?? [];
    return [
      html`<tr><th scope="row"><code>${path}</code>${required.includes(name) ? requiredMark : null}</th>
<td>${describeType(schema)}</td><td>${describe(schema)}</td></tr>`,
      ...rowsOf(inner, innerRequired, `${path}${isList ? '[]' : ''}.`),
    ];
  });
}

const requiredMark = html` <span class="required">required</span>`;

/** The description with the limits. */
export function describe(schema: SchemaObject, description = schema.description): Html {
  const deprecated = schema.deprecated === true ? html`<strong>Deprecated.</strong> ` : null;
  const preset =
    schema.default === undefined ? null : html` Default: <code>${JSON.stringify(schema.default)}</code>.`;
  return html`${deprecated}${inline(description)}${description === undefined ? null : '.'}${limitsOf(schema)}${preset}`;
}

/** The type in words, with links to the pages of other schemas. */
export function describeType(schema: SchemaObject): Html {
  if (schema.$ref !== undefined) {
    const name = nameIn(schema.$ref);
    return html`<a href="${schemaPath(name)}">${name}</a>`;
  }
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) {
    return html`${alternatives.map((alternative, index) => html`${index === 0 ? null : ' or '}${describeType(alternative)}`)}`;
  }
  if (schema.items !== undefined) {
    return html`array of ${describeType(schema.items)}`;
  }
  if (schema.const !== undefined) {
    return html`<code>${JSON.stringify(schema.const)}</code>`;
  }
  if (schema.enum !== undefined) {
    const values = schema.enum.map(
      (value, index) => html`${index === 0 ? null : ', '}<code>${String(value)}</code>`,
    );
    return html`${values}`;
  }
  const { type = 'any', format } = schema;
  const types = typeof type === 'string' ? [type] : type;
  return html`${types.join(' or ')}${format === undefined ? null : ` (${format === 'line' ? 'one line' : format})`}`;
}

const alternativesOf = ({ anyOf, oneOf }: SchemaObject): readonly SchemaObject[] => anyOf ?? oneOf ?? [];

/** Lengths and ranges in words; null without any. */
function limitsOf(schema: SchemaObject): string | null {
  const texts = [
    rangeText(schema.minimum, schema.maximum, ''),
    rangeText(schema.minLength, schema.maxLength, ' characters'),
    rangeText(schema.minItems, schema.maxItems, ' items'),
  ].filter((text) => text !== '');
  return texts.length === 0 ? null : ` ${texts.join(', ')}.`;
}

function rangeText(min: number | undefined, max: number | undefined, unit: string): string {
  if (max === undefined) {
    return min === undefined || min === 0 ? '' : `At least ${min}${unit}`;
  }
  return min === undefined ? `At most ${max}${unit}` : `${min} to ${max}${unit}`;
}

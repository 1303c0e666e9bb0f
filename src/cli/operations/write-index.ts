/** Writes index.json from openapi.json. `npm run generate` runs it. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { DescribedOperation, DescribedValue } from './described.ts';
import { operationTable } from './table.ts';

interface DocumentValue extends DescribedValue {
  readonly $ref?: string;
  readonly readOnly?: boolean;
  readonly properties?: Readonly<Record<string, DocumentValue>>;
  readonly required?: readonly string[];
  readonly items?: DocumentValue;
}

interface DocumentOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description?: string;
    readonly required?: boolean;
    readonly schema: DocumentValue;
  }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: DocumentValue } | undefined>>;
  };
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, DocumentValue>> };
}

/** One operation on each line, so that changes of several people merge. */
export function indexText(document: ApiDocument): string {
  const all = Object.values(document.paths)
    .flatMap((methods) => Object.entries(methods))
    .map(([method, operation]) => [operation.operationId, method, operation] as const);
  const used = [...new Set(operationTable.map(({ operation }) => operation))].sort();
  const lines = used.map((operationId) => {
    const [, method = '', operation] = all.find(([id]) => id === operationId) ?? [];
    if (operation === undefined) {
      throw new Error(`The OpenAPI document has no operation ${operationId}.`);
    }
    return `  ${JSON.stringify(operationId)}: ${JSON.stringify(describe(document, method, operation))}`;
  });
  return `{\n${lines.join(',\n')}\n}\n`;
}

function describe(
  document: ApiDocument,
  method: string,
  { summary, parameters = [], requestBody }: DocumentOperation,
): DescribedOperation {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const body = resolve(document, requestBody?.content['application/json']?.schema ?? {});
  const values = [
    ...inQuery.map(({ name, description, schema }) => [name, { description, ...schema }] as const),
    ...Object.entries(body.properties ?? {})
      .filter(([, { readOnly }]) => readOnly !== true)
      .flatMap((entry) => flattened(document, entry)),
  ];
  return {
    method: method.toUpperCase(),
    summary,
    path: parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name),
    hasDryRun: parameters.some(({ name }) => name === 'Dry-Run'),
    values: Object.fromEntries(values.map(([name, value]) => [name, kept(resolve(document, value))])),
    required: [
      ...inQuery.filter(({ required }) => required).map(({ name }) => name),
      ...(body.required ?? []),
    ],
  };
}

/** Each member of an object is a value, such as `address.city`. */
function flattened(
  document: ApiDocument,
  [name, value]: readonly [string, DocumentValue],
): (readonly [string, DocumentValue])[] {
  const { properties } = resolve(document, value);
  return properties === undefined
    ? [[name, value]]
    : Object.entries(properties).map(([member, inner]) => [`${name}.${member}`, inner]);
}

/** Members that are undefined are not written. */
function kept({ type, description, items, default: byDefault, ...value }: DocumentValue): DescribedValue {
  return {
    type,
    description,
    enum: value.enum,
    default: byDefault ?? undefined,
    items: items === undefined ? undefined : { type: items.type, enum: items.enum },
  };
}

function resolve({ components }: ApiDocument, { $ref, ...rest }: DocumentValue): DocumentValue {
  return $ref === undefined ? rest : { ...components.schemas[$ref.split('/').at(-1) ?? ''], ...rest };
}

if (import.meta.main) {
  const document = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
  writeFileSync(new URL('index.json', import.meta.url), indexText(JSON.parse(document)));
}

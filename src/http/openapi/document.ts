/** The parts of the OpenAPI document that the pages of the reference show. */

export interface SchemaObject {
  readonly $ref?: string;
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly required?: readonly string[];
  readonly items?: SchemaObject;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly SchemaObject[];
  readonly oneOf?: readonly SchemaObject[];
  readonly additionalProperties?: boolean | SchemaObject;
  readonly format?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly deprecated?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface MediaType {
  readonly schema?: SchemaObject;
  readonly example?: unknown;
}

type Content = Readonly<Record<string, MediaType>>;

export interface ParameterObject {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: SchemaObject;
  readonly example?: unknown;
}

export interface ResponseObject {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
}

export interface OperationObject {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseObject>>;
  readonly 'x-codeSamples'?: readonly { readonly label: string; readonly source: string }[];
}

export interface OpenapiDocument {
  readonly info: { readonly title: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: OperationObject }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, SchemaObject>>;
    readonly responses?: Readonly<Record<string, ResponseObject>>;
  };
}

/** An operation with its place in the document. */
export interface Operation extends OperationObject {
  readonly id: string;
  readonly tag: string;
  readonly method: string;
  readonly path: string;
}

/** All operations, in the order of the document, with the responses that they share with others. */
export function operationsIn({ paths, components }: OpenapiDocument): Operation[] {
  const shared = components.responses ?? {};
  const resolve = ([status, response]: [string, ResponseObject]) =>
    [status, response.$ref === undefined ? response : (shared[nameIn(response.$ref)] ?? {})] as const;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      responses: Object.fromEntries(Object.entries(operation.responses).map(resolve)),
      id: operation.operationId ?? '',
      tag: operation.tags?.[0] ?? '',
      method: method.toUpperCase(),
      path,
    })),
  );
}

/** The last part of a reference: the name of the component. */
export const nameIn = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

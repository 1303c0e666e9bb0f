/** Types of JSON Schemas and parameters, and of the values that they describe. */
import type { XStatic } from 'typebox/schema';

/** A rule for texts. `message` completes "<field>: ..." when a text breaks it. */
export interface TextRule {
  /** Returns what is checked and stored in place of the text. */
  readonly clean?: (text: string) => string;
  readonly test: (text: string) => boolean;
  readonly message: string;
}

/** A JSON Schema 2020-12. Schemas are literals, so that TypeScript can infer the types of values. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  /** How many decimals a number may have. It is checked and not documented: validators calculate multiples with doubles. */
  readonly decimals?: number;
  /** A name that OpenAPI knows; it is documented and not checked. */
  readonly format?: string;
  /**
   * What a text must satisfy besides its type and length. It is checked and not documented. Without it, a text must not
   * contain control characters.
   */
  readonly rule?: TextRule;
  readonly default?: unknown;
  /** The server supplies it. Requests may contain it, because clients send back what they have read; it is dropped. */
  readonly readOnly?: boolean;
  /** Null is an error, although the member is optional: in a merge patch, null would remove it. */
  readonly refusesNull?: boolean;
  readonly examples?: readonly unknown[];
  readonly additionalProperties?: boolean | Schema;
  /** One of these schemas; in responses only. */
  readonly anyOf?: readonly Schema[];
  /** Exactly one of these schemas; in responses only. */
  readonly oneOf?: readonly Schema[];
  /** The member by which clients choose the schema of `oneOf`: each of these has it as `const`. */
  readonly discriminator?: { readonly propertyName: string };
  /** The only value; in responses only. */
  readonly const?: string;
  /** Each element is validated by itself and becomes a `BatchEntry`; see `batchOf`. */
  readonly isBatch?: boolean;
}

/** A query parameter or header: text that is converted to the type of its schema. */
export interface Parameter extends Schema {
  readonly isRequired?: boolean;
}

export type Parameters = Readonly<Record<string, Parameter>>;

type Read<P extends Parameter> = P extends { readonly type: 'array' }
  ? P extends { readonly items: infer I }
    ? XStatic<I>[]
    : string[]
  : XStatic<P>;

/** The values of parameters. Those with a default or `isRequired` are never undefined. */
export type ParameterValues<P extends Parameters> = {
  [K in keyof P as P[K] extends { readonly default: unknown } | { readonly isRequired: true }
    ? K
    : never]: Read<P[K]>;
} & {
  [K in keyof P as P[K] extends { readonly default: unknown } | { readonly isRequired: true }
    ? never
    : K]?: Read<P[K]>;
};

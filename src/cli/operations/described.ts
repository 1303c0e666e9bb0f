/**
 * What the command line knows of an operation before it opens a shop. Importing the routes takes 0.5 s of CPU, and reading
 * openapi.json 35 ms, so `npm run generate` writes an index of the operations that are commands (index.json).
 */
import index from './index.json' with { type: 'json' };

/** What a schema says to the command line. Everything else of it is checked when the operation runs. */
export interface DescribedValue {
  readonly type?: string | readonly string[] | undefined;
  readonly description?: string | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly default?: unknown;
  readonly items?: DescribedValue | undefined;
}

export interface DescribedOperation {
  readonly method: string;
  readonly summary: string;
  /** Parameters of the path, in order. */
  readonly path: readonly string[];
  readonly hasDryRun: boolean;
  /** Query parameters and members of the body; of one that is an object, its members, such as `address.city`. */
  readonly values: Readonly<Record<string, DescribedValue>>;
  readonly required: readonly string[];
}

/** Undefined if the index is older than the table. */
export function describedOperation(operationId: string): DescribedOperation | undefined {
  return (index as Readonly<Record<string, DescribedOperation>>)[operationId];
}

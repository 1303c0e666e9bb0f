/** Findings of a consistency check: what is wrong, some examples, and what to do. */
export interface Finding {
  readonly fault: string;
  readonly count: number;
  /** Five or fewer. */
  readonly examples: readonly string[];
  readonly remedy: string;
  /** True for information that is not an error. */
  readonly isNote: boolean;
}

const examplesMax = 5;

/** Collects findings of one kind. */
export class Findings {
  #count = 0;
  readonly #examples: string[] = [];
  readonly #fault: string;
  readonly #remedy: string;
  readonly #isNote: boolean;

  constructor(fault: string, remedy: string, isNote = false) {
    this.#fault = fault;
    this.#remedy = remedy;
    this.#isNote = isNote;
  }

  add(example: string): void {
    this.#count += 1;
    if (this.#examples.length < examplesMax) {
      this.#examples.push(example);
    }
  }

  /** One finding, or none when nothing was added. */
  found(): Finding[] {
    const [fault, remedy, isNote] = [this.#fault, this.#remedy, this.#isNote];
    return this.#count === 0 ? [] : [{ fault, count: this.#count, examples: this.#examples, remedy, isNote }];
  }
}

/** Rows in the order of their ids, `limit` at a time. `read` returns the rows after an id. */
export async function* readInPages<Row extends { readonly id: number }>(
  read: (after: number, limit: number) => Promise<Row[]>,
  limit = 2000,
): AsyncGenerator<Row[]> {
  for (let after = 0; ; ) {
    const rows = await read(after, limit);
    if (rows.length > 0) {
      yield rows;
    }
    if (rows.length < limit) {
      return;
    }
    after = rows.at(-1)?.id ?? after;
  }
}

/** Parses stored JSON; undefined when it is not valid. */
export function tryParseJson<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

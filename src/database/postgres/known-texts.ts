/** What is known about the texts of statements: the names under which they are prepared, and how long they took. */

/** PostgreSQL keeps a plan for each text on each connection; lists of any length would make an unlimited number. */
const textsMax = 500;
/** A statement that took less may be sent behind others on one connection. A slow one would delay them. */
const quickMs = 50;

export interface KnownText {
  /** Name of the prepared statement; undefined for one that is not prepared. */
  readonly name: string | undefined;
  /** How long it took when it ran last. */
  lastMs: number;
  /** Whether a connection has refused the name. The text is prepared again, under another one. */
  isStale: boolean;
}

export class KnownTexts {
  readonly #isPrepared: boolean;
  readonly #texts = new Map<string, KnownText>();
  #names = 0;

  constructor(isPrepared: boolean) {
    this.#isPrepared = isPrepared;
  }

  /** undefined for a text beyond the maximum. It is not prepared, and counts as slow. */
  get(text: string): KnownText | undefined {
    let known = this.#texts.get(text);
    if (known?.isStale || (known === undefined && this.#texts.size < textsMax)) {
      this.#names += 1;
      known = { name: this.#isPrepared ? `s${this.#names}` : undefined, lastMs: Infinity, isStale: false };
      this.#texts.set(text, known);
    }
    return known;
  }
}

export function isQuick(known: KnownText | undefined): boolean {
  return known !== undefined && known.lastMs < quickMs;
}

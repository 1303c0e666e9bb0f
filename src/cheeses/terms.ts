/** Categories and tags are stored as terms, whose ids and spellings never change. */
import type { Sql } from '../database/database.ts';
import { nameKey } from '../schema/folding.ts';
import { cheeseQueries, type Term, type TermKind } from './queries.ts';
import type { Cheese } from './schemas.ts';

interface KnownTerm {
  readonly id: number;
  readonly name: string;
}

const keyOf = ([kind, name]: Term) => `${kind} ${nameKey(name)}`;

/** Terms with their ids. */
export class KnownTerms {
  readonly #terms = new Map<string, KnownTerm>();

  /** @param cheeses whose JSON contains their terms */
  constructor(cheeses: readonly Pick<Cheese, 'category' | 'tags'>[]) {
    for (const { category, tags } of cheeses) {
      if (category !== undefined) {
        this.#add('category', category);
      }
      for (const tag of tags) {
        this.#add('tag', tag);
      }
    }
  }

  /** A term that was found or created. */
  readonly of = (term: Term): KnownTerm => this.#terms.get(keyOf(term)) as KnownTerm;

  /** Looks up the terms that are not known. */
  async find(tx: Sql, terms: readonly Term[]): Promise<void> {
    const unknown = this.#unknown(terms);
    for (const { kind, ...term } of unknown.length === 0 ? [] : await cheeseQueries(tx).findTerms(unknown)) {
      this.#add(kind, term);
    }
  }

  /** Inserts the terms that were not found. The transaction has locked the catalogue, so no other one inserts them. */
  async create(tx: Sql, terms: readonly Term[]): Promise<void> {
    const unknown = this.#unknown(terms);
    for (const { kind, ...term } of unknown.length === 0
      ? []
      : await cheeseQueries(tx).insertTerms(unknown)) {
      this.#add(kind, term);
    }
  }

  #unknown(terms: readonly Term[]): Term[] {
    const unknown = new Map<string, Term>();
    for (const term of terms) {
      const key = keyOf(term);
      if (!this.#terms.has(key) && !unknown.has(key)) {
        unknown.set(key, term);
      }
    }
    return [...unknown.values()];
  }

  #add(kind: TermKind, { id, name }: KnownTerm): void {
    this.#terms.set(keyOf([kind, name]), { id, name });
  }
}

/** Categories and tags are stored as terms, whose ids never change. */
import type { Sql } from '../database/database.ts';
import { cheeseQueries, type Term, type TermKind } from './queries.ts';
import type { Cheese } from './schemas.ts';

/** Ids of terms that are known. */
export class TermIds {
  readonly #ids = new Map<string, number>();

  /** @param cheeses whose JSON contains the ids of their terms */
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

  readonly of = ([kind, name]: Term): number => this.#ids.get(`${kind} ${name}`) ?? Number.NaN;

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
    const unknown = terms.filter((term) => Number.isNaN(this.of(term)));
    return [...new Map(unknown.map((term) => [term.join(' '), term])).values()];
  }

  #add(kind: TermKind, { id, name }: { readonly id: number; readonly name: string }): void {
    this.#ids.set(`${kind} ${name}`, id);
  }
}

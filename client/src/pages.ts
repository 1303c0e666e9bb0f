/** Lists: one page when awaited, all items in a `for await` loop. */

import type { operations } from './schema.ts';
import type { Result } from './types.ts';

/** The body of a page. Lists that fit into one response have items only. */
export interface PageBody {
  readonly items?: readonly unknown[];
  readonly hasMore?: boolean;
  /** The position after this page, in lists of resources. */
  readonly nextCursor?: string | null;
  /** The position after this page, in the event log and in catalogue changes. */
  readonly next?: string;
}

/** A page with its version. */
export type Page<Body> = Body & { readonly etag: string | undefined };

/** An item of a page. */
export type ItemOf<Body> = Body extends { items: readonly (infer Item)[] } ? Item : never;

/** The list of an operation. */
export type ListOf<Name extends keyof operations> = List<ItemOf<Result<Name>>, Result<Name>>;

/** The parameters that select a page. */
export interface Position {
  readonly cursor?: string | undefined;
  readonly since?: string | undefined;
  readonly limit?: number | undefined;
}

/**
 * A list of the API. `await` fetches one page; `for await` fetches every page, the next one when the loop has consumed
 * the page before, so a loop that ends early sends no further request.
 */
export class List<Item, Body> implements PromiseLike<Page<Body>>, AsyncIterable<Item> {
  readonly #fetchPage: (position: Position) => Promise<Page<Body>>;
  readonly #limit: number | undefined;
  readonly #loopLimit: number | undefined;
  #token: string | undefined;

  /**
   * @param query what the caller wants
   * @param loopLimit the items of a page in a loop, unless the query says it; undefined for operations without a limit
   */
  constructor(
    fetchPage: (position: Position) => Promise<Page<Body>>,
    query: Position = {},
    loopLimit?: number,
  ) {
    this.#fetchPage = fetchPage;
    this.#limit = query.limit;
    this.#token = query.since;
    this.#loopLimit = loopLimit;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a list fetches a page.
  then<Result1 = Page<Body>, Result2 = never>(
    onFulfilled?: ((page: Page<Body>) => Result1 | PromiseLike<Result1>) | null,
    onRejected?: ((reason: unknown) => Result2 | PromiseLike<Result2>) | null,
  ): Promise<Result1 | Result2> {
    return this.#fetchPage({}).then(onFulfilled, onRejected);
  }

  catch<Result = never>(
    onRejected: (reason: unknown) => Result | PromiseLike<Result>,
  ): Promise<Page<Body> | Result> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally: () => void): Promise<Page<Body>> {
    return this.then().finally(onFinally);
  }

  [Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    return this.take(Number.POSITIVE_INFINITY);
  }

  /** Yields no more than `count` items. */
  async *take(count: number): AsyncGenerator<Item, void, undefined> {
    let left = Math.max(0, count);
    for await (const page of this.#walk(left)) {
      const { items = [], next } = page as PageBody;
      for (const [index, item] of items.entries()) {
        if (index === items.length - 1) {
          this.#token = next;
        }
        yield item as Item;
        left -= 1;
        if (left === 0) {
          return;
        }
      }
      this.#token = next;
    }
  }

  /** One page after another. */
  pages(): AsyncGenerator<Page<Body>, void, undefined> {
    return this.#walk(Number.POSITIVE_INFINITY);
  }

  /**
   * A later list with this as `since` yields the items of events or catalogue changes that the loop has not yielded. It
   * moves with the last item of a page, so after a crash a part of a page may come again.
   */
  get token(): string | undefined {
    return this.#token;
  }

  /** @param count how many items are needed */
  async *#walk(count: number): AsyncGenerator<Page<Body>, void, undefined> {
    let position: Position = { limit: this.#limit ?? (this.#loopLimit && Math.min(this.#loopLimit, count)) };
    while (count > 0) {
      const page = await this.#fetchPage(position);
      yield page;
      const { hasMore, nextCursor, next } = page as PageBody;
      if (hasMore !== true) {
        return;
      }
      const following: Position =
        typeof nextCursor === 'string' ? { ...position, cursor: nextCursor } : { ...position, since: next };
      if (following.cursor === position.cursor && following.since === position.since) {
        throw new Error('The list has more items, but the server sent no new position.');
      }
      position = following;
    }
  }
}

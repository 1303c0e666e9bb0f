/**
 * Reads pages of cheeses. The index says which cheeses are on a page, and one statement reads them and the version of
 * the catalogue. If that is another version than the index has, the same statement has brought the changes since.
 */
import type { Cursors } from '../../cursor.ts';
import { createCache } from '../../database/cache.ts';
import { unavailable } from '../../errors.ts';
import { type LabelField, type Status, statuses } from '../fields.ts';
import type { CatalogueIndex } from '../search-index/catalogue-index.ts';
import type { CatalogueRead, CurrentIndex, IndexVersion } from '../search-index/current-index.ts';
import { IndexCache } from '../search-index/index-cache.ts';
import { countLabels } from '../search-index/labels.ts';
import { atOnce } from '../search-index/slices.ts';
import { readFacets } from './facets.ts';
import {
  type ListQuery,
  type ListRequest,
  parseListQuery,
  toCursorFilters,
  type Unchanged,
} from './list-query.ts';
import { type Match, type PagePlan, planPage } from './page-plan.ts';

/** A few hundred pages of 20 cheeses. */
const pagesBytesMax = 16 * 1024 * 1024;
const matchesBytesMax = 8 * 1024 * 1024;
const facetsBytesMax = 4 * 1024 * 1024;
/** The number of reads that met a change of the catalogue after which a page may be shorter than its limit. */
const readsMax = 3;
/**
 * The number of such reads after which the index is loaded again. It lists cheeses that the database does not have, and no
 * change deleted them: an operator has edited the tables.
 */
const reloadedAfter = 10;
/** Cheeses behind a page that has met a change. */
const spareCheeses = 20;

export interface CheesePage {
  /** The version of the catalogue that all of the page belongs to. */
  readonly version: number;
  /** The cheeses as JSON, separated by commas, without the brackets of an array. */
  readonly items: string;
  readonly ids: readonly number[];
  readonly nextCursor: string | null;
  /** null when it was not requested. */
  readonly total: number | null;
  /** JSON of the facets, when they were requested. */
  readonly facets?: string;
}

export interface ListOptions {
  readonly withTotal: boolean;
  /** Whether the client has the page at a version of the catalogue. */
  readonly isKnown?: ((version: number) => boolean) | undefined;
  /** Ends the page after the cheese that reaches this size. */
  readonly bytesMax?: number | undefined;
  /** What to count besides, under the filters of the list. */
  readonly facets?: readonly LabelField[] | undefined;
}

/** A page, and the index that it comes from. */
interface PageAt {
  readonly page: CheesePage;
  readonly at: IndexVersion;
}

export class CheeseLists {
  readonly #current: CurrentIndex;
  readonly #cursors: Cursors;
  /** What the filters match, for the pages that follow. */
  readonly #matches = new IndexCache<Match>(matchesBytesMax, ({ slots }) => slots.byteLength);
  readonly #facets = new IndexCache<string>(facetsBytesMax, ({ length }) => length * 2);
  readonly #pages = createCache<CheesePage>(pagesBytesMax);
  /** The index whose pages are cached: another one can have another page of the same version. */
  #cachedIndex: CatalogueIndex | null = null;

  constructor(current: CurrentIndex, cursors: Cursors) {
    this.#current = current;
    this.#cursors = cursors;
  }

  /** @throws AppError badRequest when a filter or the cursor is not valid, or the cursor belongs to other filters */
  async list(request: ListRequest, options: ListOptions): Promise<CheesePage | Unchanged> {
    const { isKnown, facets } = options;
    if (isKnown !== undefined) {
      const { version } = await this.#current.refresh();
      if (isKnown(version)) {
        parseListQuery(request, this.#cursors);
        return { unchanged: true, version };
      }
    }
    for (;;) {
      const { page, at } = await this.#readPage(request, options);
      if (facets === undefined) {
        return page;
      }
      // Otherwise page and facets would be of two versions.
      if (at.index.revision === at.revision) {
        const { query, words } = parseListQuery(request, this.#cursors);
        return { ...page, facets: await readFacets(this.#facets, at.index, facets, query.filters, words) };
      }
    }
  }

  /** Cheeses of the whole catalogue by status. */
  async countByStatus(): Promise<Record<Status, number>> {
    for (;;) {
      const { index, revision } = await this.#current.refresh();
      if (index.revision === revision) {
        const labels = statuses.map((status) => index.labels.status.ensure(status));
        const counts = atOnce(countLabels(labels, index.live()));
        return Object.fromEntries(statuses.map((status, place) => [status, counts[place]])) as Record<
          Status,
          number
        >;
      }
    }
  }

  /** The page from the cache, if it is of the present version, or a new one. */
  async #readPage(request: ListRequest, options: ListOptions): Promise<PageAt> {
    const { withTotal, bytesMax } = options;
    const key = JSON.stringify([request, withTotal, bytesMax]);
    const known = this.#knownPage(key, this.#current.last);
    if (known !== null) {
      const refreshed = this.#current.refresh();
      const at = refreshed instanceof Promise ? await refreshed : refreshed;
      const page = this.#knownPage(key, at);
      if (page !== null) {
        return { page, at };
      }
    }
    const found = await this.#findPage(request, options);
    // Later parts of a long response are read once, so they are not cached.
    if (bytesMax === undefined || request.cursor === undefined) {
      this.#pagesOf(found.at.index).set(key, found.page);
    }
    return found;
  }

  #knownPage(key: string, at: IndexVersion | null): CheesePage | null {
    const page = at === null ? undefined : this.#pagesOf(at.index).get(key);
    return page !== undefined && page.version === at?.version ? page : null;
  }

  #pagesOf(index: CatalogueIndex) {
    if (this.#cachedIndex !== index) {
      this.#pages.clear();
      this.#cachedIndex = index;
    }
    return this.#pages;
  }

  async #findPage(request: ListRequest, { withTotal, bytesMax }: ListOptions): Promise<PageAt> {
    const { query, words } = parseListQuery(request, this.#cursors);
    const { limit } = request;
    let read: CatalogueRead | null = null;
    for (let reads = 0; ; reads += 1) {
      const { index } = read ?? this.#current.last ?? (await this.#current.refresh());
      const spare = reads < readsMax ? 0 : spareCheeses;
      const planned = planPage(this.#matches, index, { query, words, limit, bytesMax, spare });
      const plan = planned instanceof Promise ? await planned : planned;
      if (read?.index === index && read.revision === plan.revision) {
        const bodies = bodiesOf(plan, read);
        // A page that is shorter than planned still has a next page, which begins after its last cheese.
        if (bodies.length === plan.size || (reads >= readsMax && bodies.length > 0)) {
          const total = withTotal ? plan.total : null;
          return { page: this.#toPage(query, plan, bodies, read.version, total), at: read };
        }
      }
      if (reads === reloadedAfter) {
        await this.#current.reload();
      } else if (reads > reloadedAfter * 2) {
        throw unavailable('The catalogue changes too fast to read this page of it.', 1);
      }
      read = await this.#current.read(plan.ids);
    }
  }

  #toPage(
    { sort, filters }: ListQuery,
    plan: PagePlan,
    bodies: readonly string[],
    version: number,
    total: number | null,
  ): CheesePage {
    const hasMore = bodies.length < plan.slots.length;
    const nextCursor = hasMore
      ? this.#cursors.encode({
          sort,
          filters: toCursorFilters(filters),
          after: plan.ordering.positionOf(plan.slots[bodies.length - 1] as number),
        })
      : null;
    return { version, items: bodies.join(','), ids: plan.ids.slice(0, bodies.length), nextCursor, total };
  }
}

/** The bodies of the page, up to the first one that was not read. */
function bodiesOf({ index, slots, size }: PagePlan, { bodies }: CatalogueRead): string[] {
  const found: string[] = [];
  for (const slot of slots.slice(0, size)) {
    const body = bodies.get(index.columns.id(slot));
    if (body === undefined) {
      break;
    }
    found.push(body);
  }
  return found;
}

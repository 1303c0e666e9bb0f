/** Lists the names of categories and of tags, with their numbers of cheeses. */
import { type Cursors, canonicalFilters, requireSameQuery } from '../../cursor.ts';
import { foldText } from '../../schema/folding.ts';
import type { Status } from '../schemas.ts';
import type { CatalogueIndex } from '../search-index/catalogue-index.ts';
import type { CurrentIndex } from '../search-index/current-index.ts';
import { compareLabels, countLabels, type Label } from '../search-index/labels.ts';
import { keepMatches } from '../search-index/matches.ts';
import { inSlices } from '../search-index/slices.ts';
import type { Unchanged } from './list-query.ts';

/** Lists of names that are remembered for a version of the catalogue. One of 100,000 tags takes 2 MB. */
const cachedListsMax = 8;

export type NamedKind = 'category' | 'tag';

interface NameFilters {
  /** The beginning of the name. */
  readonly q?: string | undefined;
  readonly statuses?: readonly Status[] | undefined;
  /** Whether to list names without cheeses in these statuses. */
  readonly empty?: boolean | undefined;
}

export interface NameListRequest extends NameFilters {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

interface CountedLabel {
  readonly label: Label;
  readonly cheeses: number;
}

export interface NamePage {
  /** The version of the catalogue. */
  readonly version: number;
  readonly items: readonly { readonly id: number; readonly name: string; readonly cheeses: number }[];
  readonly nextCursor: string | null;
  readonly total: number;
}

/** A place in the list of names. */
type NamePosition = Pick<Label, 'folded' | 'id'>;

export class NameLists {
  readonly #current: CurrentIndex;
  readonly #cursors: Readonly<Record<NamedKind, Cursors>>;
  readonly #lists = new Map<string, readonly CountedLabel[]>();
  #listed: { readonly index: CatalogueIndex; readonly revision: number } | null = null;

  /** @param cursors of each list */
  constructor(current: CurrentIndex, cursors: Readonly<Record<NamedKind, Cursors>>) {
    this.#current = current;
    this.#cursors = cursors;
  }

  /** @throws AppError badRequest when the cursor is not valid or belongs to other filters */
  async list(
    kind: NamedKind,
    request: NameListRequest,
    isKnown?: (version: number) => boolean,
  ): Promise<NamePage | Unchanged> {
    const { filters, after } = this.#parse(kind, request);
    for (;;) {
      const { index, revision, version } = await this.#current.refresh();
      if (isKnown?.(version)) {
        return { unchanged: true, version };
      }
      if (index.revision === revision) {
        const all = await this.#findAll(index, kind, filters);
        return { version, ...this.#page(kind, filters, all, after, request.limit) };
      }
    }
  }

  #parse(kind: NamedKind, { cursor, limit: _, ...given }: NameListRequest) {
    const filters = canonicalFilters<NameFilters>(given);
    if (cursor === undefined) {
      return { filters, after: null };
    }
    const stored = this.#cursors[kind].decode(cursor) as { filters: NameFilters; after: NamePosition };
    requireSameQuery(stored.filters, filters, { statuses: 'status' });
    return stored;
  }

  /** All names of the list, of the version that the index has now. */
  async #findAll(
    index: CatalogueIndex,
    kind: NamedKind,
    filters: NameFilters,
  ): Promise<readonly CountedLabel[]> {
    const { revision } = index;
    const key = `${kind} ${JSON.stringify(filters)}`;
    if (this.#listed?.index !== index || this.#listed.revision !== revision) {
      this.#lists.clear();
      this.#listed = { index, revision };
    }
    const known = this.#lists.get(key);
    if (known !== undefined) {
      return known;
    }
    const all = await inSlices(countNames(index, kind, filters));
    if (this.#listed.index === index && this.#listed.revision === revision) {
      if (this.#lists.size >= cachedListsMax) {
        this.#lists.clear();
      }
      this.#lists.set(key, all);
    }
    return all;
  }

  #page(
    kind: NamedKind,
    filters: NameFilters,
    all: readonly CountedLabel[],
    after: NamePosition | null,
    limit: number,
  ) {
    const start = after === null ? 0 : firstAfter(all, after);
    const page = all.slice(start, start + limit);
    const last = start + limit < all.length ? page.at(-1)?.label : undefined;
    return {
      items: page.map(({ label: { id, name }, cheeses }) => ({ id, name, cheeses })),
      nextCursor:
        last === undefined
          ? null
          : this.#cursors[kind].encode({ filters, after: { folded: last.folded, id: last.id } }),
      total: all.length,
    };
  }
}

function* countNames(
  index: CatalogueIndex,
  kind: NamedKind,
  { q = '', statuses, empty = false }: NameFilters,
): Generator<void, readonly CountedLabel[]> {
  // Both are copied before the first pause.
  const live = index.live();
  const labels = index.labels[kind].startingWith(foldText(q));
  yield* keepMatches(index, live, { statuses }, []);
  const counts = yield* countLabels(labels, live);
  return labels.flatMap((label, place) => {
    const cheeses = counts[place] as number;
    return empty || cheeses > 0 ? [{ label, cheeses }] : [];
  });
}

/** The first place of the list behind a position. */
function firstAfter(all: readonly CountedLabel[], after: NamePosition): number {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareLabels((all[middle] as CountedLabel).label, after) <= 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

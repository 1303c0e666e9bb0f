/** Lists the names of categories and of tags, with their numbers of cheeses. */
import { type Cursors, canonicalFilters, requireSameQuery } from '../../cursor.ts';
import { foldText } from '../../schema/folding.ts';
import type { CatalogueIndex } from '../search-index/catalogue-index.ts';
import type { CurrentIndex } from '../search-index/current-index.ts';
import { IndexCache } from '../search-index/index-cache.ts';
import { compareLabels, countLabels, type Label } from '../search-index/labels.ts';
import { type Filters, keepMatches } from '../search-index/matches.ts';
import { inSlices } from '../search-index/slices.ts';
import { searchPlace } from '../search-index/slot-order.ts';
import type { Unchanged } from './list-query.ts';

const cachedBytesMax = 64 * 1024 * 1024;
/** One name of a list: a list of 100,000 tags takes 2 MB. */
const bytesOfAName = 20;

export type NamedKind = 'category' | 'tag';

interface NameFilters {
  /** The beginning of the name. */
  readonly q?: string | undefined;
  readonly status?: Filters['status'];
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
  readonly #lists = new IndexCache<readonly CountedLabel[]>(
    cachedBytesMax,
    ({ length }) => length * bytesOfAName,
  );

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
        const key = `${kind} ${JSON.stringify(filters)}`;
        const all = await inSlices(
          this.#lists.find(index, revision, key, () => countNames(index, kind, filters)),
        );
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
    requireSameQuery(stored.filters, filters);
    return stored;
  }

  #page(
    kind: NamedKind,
    filters: NameFilters,
    all: readonly CountedLabel[],
    after: NamePosition | null,
    limit: number,
  ) {
    const start = searchPlace(
      all.length,
      (place) => after !== null && compareLabels((all[place] as CountedLabel).label, after) <= 0,
    );
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
  { q = '', status, empty = false }: NameFilters,
): Generator<void, readonly CountedLabel[]> {
  // Both are copied before the first pause.
  const live = index.live();
  const labels = index.terms(kind).startingWith(foldText(q));
  yield* keepMatches(index, live, { status }, []);
  const counts = yield* countLabels(labels, live);
  return labels.flatMap((label, place) => {
    const cheeses = counts[place] as number;
    return empty || cheeses > 0 ? [{ label, cheeses }] : [];
  });
}

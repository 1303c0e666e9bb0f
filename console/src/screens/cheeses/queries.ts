/** How the screens of cheeses read them. */
import { type InfiniteData, type QueryClient, useQueries } from '@tanstack/react-query';
import { type Cheese, etagOf, type Result } from '../../../../client/src/index.ts';
import { useApi, useCurd } from '../../data/queries.ts';
import { usePages } from '../../parts/tables/pages.ts';
import { type CheeseFilters, facetNames } from './list/filters.ts';

type CheesePage = Result<'listCheeses'>;

export function useCheeses(filters: CheeseFilters) {
  const curd = useCurd();
  return usePages({
    key: ['cheeses', 'list', filters],
    // A cursor contains filters and sort. The first page counts the values of the filters.
    read: ({ cursor, limit, isFirst, signal }): PromiseLike<CheesePage> =>
      curd.cheeses.list(
        {
          ...(cursor === undefined ? filters : { cursor }),
          ...(isFirst ? { facets: [...facetNames] } : {}),
          limit,
        },
        { signal },
      ),
    idOf: ({ id }) => id,
  });
}

/** How many of the cheeses have no image, and how many no price. */
export function useMissingCounts(filters: CheeseFilters) {
  return { image: useMissingCount('image', filters), price: useMissingCount('price', filters) };
}

function useMissingCount(name: 'image' | 'price', { sort: _sort, missing = [], ...filters }: CheeseFilters) {
  const both = [...new Set([...missing, name])].sort();
  return useApi(['cheeses', 'missing', { ...filters, missing: both }], async (curd, signal) => {
    return (await curd.cheeses.list({ ...filters, missing: both, limit: 1 }, { signal })).total;
  }).data;
}

/**
 * Kilograms available of those cheeses that are tracked, by id.
 * @param inView the first and the last page to keep current
 */
export function useAvailable(
  pages: readonly (readonly number[])[],
  [top, bottom]: readonly [number, number],
): ReadonlyMap<number, number> {
  const curd = useCurd();
  return useQueries({
    queries: pages.map((ids, index) => ({
      queryKey: ['stock', 'of', ids],
      enabled: ids.length > 0 && index >= top && index <= bottom,
      queryFn: async () => await curd.stock.list({ cheeseIds: ids.map(String), limit: 100 }),
    })),
    combine: (results) =>
      new Map(
        results
          .flatMap(({ data }) => data?.items ?? [])
          .map(({ cheeseId, available }) => [cheeseId, available]),
      ),
  });
}

/** A cheese with its version, which the cache would not keep on the object. */
export interface VersionedCheese {
  readonly cheese: Cheese;
  readonly etag: string | undefined;
}

export function useCheese(id: number) {
  return useApi([`cheese ${id}`], async (curd, signal): Promise<VersionedCheese> => {
    return withVersion(await curd.cheeses.get(id, { signal }));
  });
}

export const withVersion = (cheese: Cheese): VersionedCheese => ({ cheese, etag: etagOf(cheese) });

export function useImages(id: number) {
  return useApi(
    [`cheese ${id}`, 'images'],
    async (curd, signal) => (await curd.cheeses.listImages(id, { signal })).items,
  );
}

/** Shows a cheese in all lists as if they had been read again. */
export function showInLists(client: QueryClient, cheese: Cheese): void {
  client.setQueriesData<InfiniteData<CheesePage>>({ queryKey: ['cheeses', 'list'] }, (data) =>
    data === undefined
      ? undefined
      : {
          ...data,
          pages: data.pages.map((page) => ({
            ...page,
            items: page.items.map((item) => (item.id === cheese.id ? cheese : item)),
          })),
        },
  );
}

const uploaded = /\/([0-9a-f]{64}(?:-[0-9a-f]{64})?\.\w+)$/;

/** Whether a URL looks like that of an uploaded image. Others are not loaded, but shown as links. */
export const isUploaded = (url: string): boolean => uploaded.test(url);

/** The path from which this page may load an uploaded image, for any host in its URL. */
export const toImagePath = (url: string): string => `/images/${uploaded.exec(url)?.[1] ?? ''}`;

/** A log, the newest rows first. No event says that there are more, so its beginning is read again at intervals. */
import { useInfiniteQuery } from '@tanstack/react-query';

const refreshMs = 3000;

interface Page<Row> {
  readonly items: readonly Row[];
  readonly nextCursor: string | null;
}

/** @param read reads a page; the first one without a cursor */
export function useNewestFirst<Row>(
  queryKey: readonly unknown[],
  read: (cursor: string | undefined, signal: AbortSignal) => PromiseLike<Page<Row>>,
) {
  const list = useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam, signal }) => await read(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    // The first page alone is kept current: a reader of old pages is not waiting for new rows.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : refreshMs),
  });
  const { data, error, refetch } = list;
  return {
    data,
    error,
    refetch,
    rows: data?.pages.flatMap(({ items }) => items) ?? [],
    earlier: list.hasNextPage
      ? { read: () => void list.fetchNextPage(), isReading: list.isFetchingNextPage }
      : null,
  };
}

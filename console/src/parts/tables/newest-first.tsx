/** A list of what happened, the newest first, where no event says that there is more. */
import { Button, Center } from '@mantine/core';
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
    // Only the beginning is kept current: a reader of old pages is not waiting for new rows.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : refreshMs),
  });
  return { list, rows: list.data?.pages.flatMap(({ items }) => items) ?? [] };
}

interface Props {
  readonly list: ReturnType<typeof useNewestFirst>['list'];
  readonly label: string;
}

/** Reads the next page, where there is one. */
export function EarlierButton({ list, label }: Props) {
  return list.hasNextPage ? (
    <Center p="sm">
      <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        {label}
      </Button>
    </Center>
  ) : null;
}

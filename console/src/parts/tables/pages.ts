/**
 * A list that is read in pages while somebody scrolls. What an event makes stale is read again if it is in view; the
 * first page, which has the total, always. Other pages are read again when they come into view.
 */
import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { cutPage } from './cut-page.ts';

const pageSize = 50;
/** More than a page, because rows may have been added to it. */
const rereadMax = 100;
/** The URL is changed when scrolling has paused for so long. */
const restMs = 300;
/** The next page is read when so many rows are left below. */
const ahead = 10;

/** The cursor of the page at the top of the view, in the URL. */
const parameter = 'at';

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
  /** Absent in lists without a total. */
  readonly total?: number;
}

type Cursor = string | undefined;

interface PageRequest {
  readonly cursor: Cursor;
  readonly limit: number;
  /** Whether it is the first page that is shown, whose total and counts are shown too. */
  readonly isFirst: boolean;
  readonly signal: AbortSignal;
}

interface Options<P extends Page<unknown>> {
  /** The first part names the resource, by which events make the list stale (live.ts). */
  readonly key: readonly unknown[];
  readonly read: (request: PageRequest) => PromiseLike<P>;
  readonly idOf: (item: P['items'][number]) => number | string;
}

export function usePages<P extends Page<unknown>>({ key, read, idOf }: Options<P>) {
  type Item = P['items'][number];
  const [first, setFirst] = useFirstCursor<P>(key);
  const queryKey = [...key, 'pages', first ?? null];
  const { readPage, stale, inView, isCatchingUp } = usePageReader({ read, idOf }, queryKey, first);
  const [pagesInView, setPagesInView] = useState(inView.current);
  const [isEndNear, setEndNear] = useState(false);

  const list = useInfiniteQuery<P, Error, InfiniteData<P, Cursor>, readonly unknown[], Cursor>({
    queryKey,
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    initialPageParam: first,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  const pages = list.data?.pages ?? [];
  const cursors = list.data?.pageParams ?? [];
  const items = pages.flatMap((page): readonly Item[] => page.items);
  const rows = [...new Map(items.map((item) => [idOf(item), item])).values()];

  // A cursor that was written by hand, or of other filters.
  const isBeginRefused = list.isError && list.data === undefined && first !== undefined;
  useEffect(() => {
    if (isBeginRefused) {
      setFirst(undefined);
    }
  }, [isBeginRefused, setFirst]);

  const { fetchNextPage, refetch, isPlaceholderData } = list;
  const isIdle = !list.isFetching && !list.isError && !isPlaceholderData;
  const isNextWanted = isIdle && isEndNear && list.hasNextPage;
  useEffect(() => {
    if (isNextWanted) {
      void fetchNextPage();
    }
  }, [isNextWanted, fetchNextPage]);

  const [top, bottom] = pagesInView;
  useEffect(() => {
    const isStale = cursors.slice(top, bottom + 1).some((cursor) => stale.current.has(cursor));
    if (isStale && isIdle) {
      isCatchingUp.current = true;
      void refetch();
    }
  });

  useCursorInUrl(cursors[top], list.data !== undefined && !isPlaceholderData);

  return {
    ...list,
    pages,
    /** How many rows there are in all; undefined while the list is loaded. */
    total: pages[0]?.total,
    rows,
    /** The pages with a row in view. */
    pagesInView,
    /** Shows the list from its first row; null if it is shown from there. */
    toBegin: first === undefined ? null : () => setFirst(undefined),
    /** Tells which rows of the table are in view. */
    onVisible(firstRow: number, last: number): void {
      let end = 0;
      const ends = pages.map(({ items }) => (end += items.length));
      const pageOf = (row: number) =>
        Math.max(
          0,
          ends.findIndex((end) => row < end),
        );
      const next = [pageOf(firstRow), pageOf(last)] as const;
      inView.current = next;
      setEndNear(last >= rows.length - ahead);
      setPagesInView((old) => (old[0] === next[0] && old[1] === next[1] ? old : next));
    },
  };
}

/** The cursor with which a list begins: at first that of the URL; for another key, none. */
function useFirstCursor<P extends Page<unknown>>(key: readonly unknown[]) {
  const client = useQueryClient();
  const [search] = useSearchParams();
  const name = JSON.stringify(key);
  // A page that was loaded before is shown among the others; else the list begins with it.
  const [begin, setBegin] = useState(() => {
    const at = search.get(parameter) ?? undefined;
    const loaded = client.getQueryData<InfiniteData<P, Cursor>>([...key, 'pages', null]);
    return { name, cursor: loaded?.pageParams.includes(at) ? undefined : at };
  });
  if (begin.name !== name) {
    setBegin({ name, cursor: undefined });
  }
  const setFirst = useCallback((cursor: Cursor) => setBegin({ name, cursor }), [name]);
  return [begin.name === name ? begin.cursor : undefined, setFirst] as const;
}

/** Reads pages, and reads those again that an event has made stale and that are in view. */
function usePageReader<P extends Page<unknown>>(
  { read, idOf }: Pick<Options<P>, 'read' | 'idOf'>,
  queryKey: readonly unknown[],
  first: Cursor,
) {
  const client = useQueryClient();
  const stale = useRef(new Set<Cursor>());
  const inView = useRef<readonly [first: number, last: number]>([0, 0]);
  /** The next refetch is for pages that have come into view. */
  const isCatchingUp = useRef(false);

  async function readPage(cursor: Cursor, signal: AbortSignal): Promise<P> {
    const known = client.getQueryData<InfiniteData<P, Cursor>>(queryKey);
    const index = known?.pageParams.indexOf(cursor) ?? -1;
    const before = known?.pages[index];
    if (known === undefined || before === undefined) {
      return read({ cursor, limit: pageSize, isFirst: cursor === first, signal });
    }
    // A refetch begins with the first page.
    if (index === 0) {
      stale.current = isCatchingUp.current ? stale.current : new Set(known.pageParams);
      isCatchingUp.current = false;
    }
    const [top, bottom] = inView.current;
    const isNeeded = index === 0 || (index >= top && index <= bottom);
    if (!isNeeded || !stale.current.has(cursor)) {
      return before;
    }
    const next = known.pages[index + 1];
    const limit = next === undefined ? pageSize : rereadMax;
    const page = await read({ cursor, limit, isFirst: index === 0, signal });
    stale.current.delete(cursor);
    return next === undefined
      ? page
      : {
          ...page,
          items: cutPage<P['items'][number]>(page.items, before.items, next.items, idOf, pageSize),
          nextCursor: before.nextCursor,
        };
  }

  return { readPage, stale, inView, isCatchingUp };
}

/** Writes the cursor of the page at the top of the view into the URL. @param isShown whether that page is of this list */
function useCursorInUrl(at: Cursor, isShown: boolean): void {
  const [search, setSearch] = useSearchParams();
  const written = search.get(parameter) ?? undefined;
  useEffect(() => {
    if (!isShown || written === at) {
      return;
    }
    const write = () =>
      setSearch(
        (old) => {
          const params = new URLSearchParams(old);
          params.delete(parameter);
          if (at !== undefined) {
            params.set(parameter, at);
          }
          return params;
        },
        { replace: true, state: window.history.state },
      );
    const timer = window.setTimeout(write, restMs);
    return () => window.clearTimeout(timer);
  }, [isShown, at, written, setSearch]);
}

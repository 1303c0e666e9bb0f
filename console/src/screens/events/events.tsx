/** The event log: live, or from a time on. */
import { Anchor, Badge, Button, Group, Text } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { CurdEvent } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { type List, ListTable } from '../../parts/list-screen.tsx';
import { Empty, PageTitle } from '../../parts/page.tsx';
import type { Column } from '../../parts/tables/table-row.tsx';
import { Actor } from '../../parts/text/actor.tsx';
import { Subject } from '../../parts/text/subject.tsx';
import { Time } from '../../parts/text/time.tsx';
import { asText, useUrlFilters, useUrlValue } from '../../parts/url-filters.ts';
import { EventDrawer } from './event-drawer.tsx';
import { filterReaders, LogFilters, type LogView } from './filters.tsx';
import { readNewest, toQuery } from './newest.ts';

const step = 50;
const shownMax = 500;

interface ListProps {
  readonly view: LogView;
  readonly onOpen: (id: string) => void;
}

const columnsOf = (onOpen: ListProps['onOpen']): readonly Column<CurdEvent>[] => [
  { title: 'Time', show: ({ timestamp }) => <Time at={timestamp} isExact /> },
  {
    title: 'Type',
    show: ({ id, type }) => (
      <Anchor component="button" type="button" size="sm" onClick={() => onOpen(id)}>
        {type}
      </Anchor>
    ),
  },
  { title: 'Subject', show: ({ subject }) => <Subject subject={subject} /> },
  { title: 'By', show: ({ actor }) => <Actor actor={actor} /> },
  {
    title: 'Number',
    isNumber: true,
    isWideOnly: true,
    // Digits are not grouped, because the number is a part of the event id.
    show: ({ sequence }) => sequence,
  },
];

interface TableProps {
  readonly list: List<CurdEvent>;
  /** A filter that matches few may have found none yet. */
  readonly hasMore: boolean;
  readonly onOpen: ListProps['onOpen'];
}

function EventTable({ list, hasMore, onOpen }: TableProps) {
  return (
    <ListTable
      list={list}
      label="Events"
      what="events"
      columns={columnsOf(onOpen)}
      keyOf={({ id }) => id}
      nameOf={({ type, subject }) => `${type} ${subject}`}
      onOpen={({ id }) => onOpen(id)}
      empty={
        hasMore ? null : (
          <Empty title="No events">
            Everything that changes in the shop is an event: a placed order, a new price, a revoked key.
            Events are kept for 90 days unless CURD_EVENT_RETENTION says otherwise.
          </Empty>
        )
      }
    />
  );
}

function LiveList({ view, onOpen }: ListProps) {
  const curd = useCurd();
  const [count, setCount] = useState(step);
  const { data, error, refetch, isFetching, isPlaceholderData } = useQuery({
    queryKey: ['events', 'newest', view.types, view.subject, count],
    queryFn: ({ signal }) => readNewest(curd, view, count, signal),
    placeholderData: keepPreviousData,
  });
  const { events: rows, hasMore } = data ?? { events: [], hasMore: false };
  const earlier =
    hasMore && count < shownMax
      ? { read: () => setCount(count + step * 2), isReading: isFetching && isPlaceholderData }
      : null;
  return (
    <>
      <EventTable list={{ data, error, refetch, rows, earlier }} hasMore={hasMore} onOpen={onOpen} />
      {hasMore && count >= shownMax ? (
        <Text size="sm" c="dimmed" ta="center" p="sm">
          Enter a time in From to read older events.
        </Text>
      ) : null}
    </>
  );
}

function ListSince({ view, since, onOpen }: ListProps & { readonly since: string }) {
  const curd = useCurd();
  const log = useInfiniteQuery({
    queryKey: ['log', since, view.types, view.subject],
    queryFn: async ({ pageParam, signal }) =>
      await curd.events.list({ ...toQuery(view), since: pageParam, limit: step }, { signal }),
    initialPageParam: since,
    getNextPageParam: ({ next, hasMore }) => (hasMore ? next : undefined),
  });
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = log;
  const rows = data?.pages.flatMap(({ items }) => items) ?? [];
  const onVisible = (_first: number, last: number) => {
    if (last === rows.length - 1 && hasNextPage && !isFetchingNextPage) {
      void fetchNextPage();
    }
  };
  return (
    <>
      <EventTable list={{ data, error, refetch, rows, onVisible }} hasMore={hasNextPage} onOpen={onOpen} />
      {data === undefined ? null : (
        <Group justify="center" p="sm">
          <Button
            variant="default"
            loading={log.isFetching}
            onClick={() => void (hasNextPage ? fetchNextPage() : refetch())}
          >
            {hasNextPage ? 'Later events' : 'Read again'}
          </Button>
        </Group>
      )}
    </>
  );
}

export default function Events() {
  const { filters, change } = useUrlFilters(filterReaders, 'push');
  const { types = [], subject = '', since = null } = filters;
  const view = { types, subject, since };
  const [open, show] = useUrlValue('event', asText());
  return (
    <>
      <PageTitle title="Events">
        <Badge variant="light" color="gray">
          {since === null ? 'newest first' : 'oldest first'}
        </Badge>
      </PageTitle>
      <LogFilters view={view} onChange={change} />
      {since === null ? (
        <LiveList view={view} onOpen={show} />
      ) : (
        <ListSince view={view} since={since} onOpen={show} />
      )}
      {open === undefined ? null : <EventDrawer id={open} onClose={() => show(null)} />}
    </>
  );
}

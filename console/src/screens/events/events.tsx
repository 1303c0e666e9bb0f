/** The event log: live, or from a time on. */
import { Anchor, Badge, Button, Center, Text } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import type { CurdEvent } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { Empty, Loading, PageTitle, Problem } from '../../parts/page.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import type { Column } from '../../parts/tables/table-row.tsx';
import { Actor } from '../../parts/text/actor.tsx';
import { Subject } from '../../parts/text/subject.tsx';
import { Time } from '../../parts/text/time.tsx';
import { EventDrawer } from './event-drawer.tsx';
import { LogFilters, type LogView, toSearch, viewOf } from './filters.tsx';
import { readNewest, toQuery } from './newest.ts';

const step = 50;
const shownMax = 500;

interface TableProps {
  readonly events: readonly CurdEvent[];
  readonly onOpen: (event: CurdEvent) => void;
  readonly onVisible?: ((first: number, last: number) => void) | undefined;
}

function EventTable({ events, onOpen, onVisible }: TableProps) {
  const columns: Column<CurdEvent>[] = [
    { title: 'Time', show: ({ timestamp }) => <Time at={timestamp} isExact /> },
    {
      title: 'Type',
      show: (event) => (
        <Anchor component="button" type="button" size="sm" onClick={() => onOpen(event)}>
          {event.type}
        </Anchor>
      ),
    },
    { title: 'Subject', show: ({ subject }) => <Subject subject={subject} /> },
    { title: 'By', show: ({ actor }) => <Actor actor={actor} /> },
    {
      title: 'Number',
      isNumber: true,
      isWideOnly: true,
      // Not grouped: it is a part of the event id.
      show: ({ sequence }) => sequence,
    },
  ];
  return (
    <DataTable
      label="Events"
      columns={columns}
      rows={events}
      keyOf={({ id }) => id}
      nameOf={({ type, subject }) => `${type} ${subject}`}
      onOpen={onOpen}
      onVisible={onVisible}
    />
  );
}

interface ListProps {
  readonly view: LogView;
  readonly onOpen: (event: CurdEvent) => void;
}

const nothing = (
  <Empty title="No events">
    Everything that changes in the shop is an event: a placed order, a new price, a revoked key. Events are
    kept for 90 days unless CURD_EVENT_RETENTION says otherwise.
  </Empty>
);

function LiveList({ view, onOpen }: ListProps) {
  const curd = useCurd();
  const [count, setCount] = useState(step);
  const newest = useQuery({
    queryKey: ['events', 'newest', view.types, view.subject, count],
    queryFn: ({ signal }) => readNewest(curd, view, count, signal),
    placeholderData: keepPreviousData,
  });
  if (newest.isPending) {
    return <Loading what="events" />;
  }
  if (newest.isError) {
    return <Problem error={newest.error} retry={newest.refetch} />;
  }
  const { events, hasMore } = newest.data;
  if (events.length === 0 && !hasMore) {
    return nothing;
  }
  return (
    <>
      <EventTable events={events} onOpen={onOpen} />
      {hasMore ? (
        <Center p="sm">
          {count < shownMax ? (
            <Button
              variant="default"
              loading={newest.isFetching && newest.isPlaceholderData}
              onClick={() => setCount(count + step * 2)}
            >
              Earlier events
            </Button>
          ) : (
            <Text size="sm" c="dimmed">
              Enter a time in From to read older events.
            </Text>
          )}
        </Center>
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
  if (log.isPending) {
    return <Loading what="events" />;
  }
  if (log.isError) {
    return <Problem error={log.error} retry={log.refetch} />;
  }
  const events = log.data.pages.flatMap(({ items }) => items);
  return (
    <>
      {events.length === 0 && !log.hasNextPage ? nothing : null}
      {events.length === 0 ? null : (
        <EventTable
          events={events}
          onOpen={onOpen}
          onVisible={(_first, last) => {
            if (last === events.length - 1 && log.hasNextPage && !log.isFetchingNextPage) {
              void log.fetchNextPage();
            }
          }}
        />
      )}
      <Center p="sm">
        <Button
          variant="default"
          loading={log.isFetching}
          onClick={() => void (log.hasNextPage ? log.fetchNextPage() : log.refetch())}
        >
          {log.hasNextPage ? 'Later events' : 'Read again'}
        </Button>
      </Center>
    </>
  );
}

export default function Events() {
  const [search, setSearch] = useSearchParams();
  const view = viewOf(search);
  const open = search.get('event');
  // The query contains the event, so that the list behind keeps its place.
  const onOpen = ({ id }: CurdEvent) => setSearch([...toSearch(view), ['event', id]]);
  return (
    <>
      <PageTitle title="Events">
        <Badge variant="light" color="gray">
          {view.since === null ? 'newest first' : 'oldest first'}
        </Badge>
      </PageTitle>
      <LogFilters view={view} onChange={(next) => setSearch(toSearch(next))} />
      {view.since === null ? (
        <LiveList view={view} onOpen={onOpen} />
      ) : (
        <ListSince view={view} since={view.since} onOpen={onOpen} />
      )}
      {open === null ? null : <EventDrawer id={open} onClose={() => setSearch(toSearch(view))} />}
    </>
  );
}

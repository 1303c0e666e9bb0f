/** The requests that are kept, the newest first. */
import { Anchor, Button, Group, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Result } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { ListScreen } from '../../parts/list-screen.tsx';
import { Empty } from '../../parts/page.tsx';
import { useNewestFirst } from '../../parts/tables/newest-first.ts';
import type { Column } from '../../parts/tables/table-row.tsx';
import { Actor } from '../../parts/text/actor.tsx';
import { Copyable } from '../../parts/text/copyable.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import { useUrlFilters } from '../../parts/url-filters.ts';
import { Filters, filterReaders } from './filters.tsx';
import { ResponseStatus } from './response-status.tsx';

type Item = Result<'listRequests'>['items'][number];

const pathOf = (id: string) => `/requests/${encodeURIComponent(id)}`;

const columns: Column<Item>[] = [
  { title: 'Time', show: ({ at }) => <Time at={at} isExact /> },
  {
    title: 'Request',
    show: ({ id, method, route, dryRun }) => (
      <Anchor component={Link} href={pathOf(id)} size="sm" style={{ overflowWrap: 'anywhere' }}>
        {method} {route ?? '(no such path)'}
        {dryRun ? ' (dry run)' : ''}
      </Anchor>
    ),
  },
  { title: 'Status', show: ({ status }) => <ResponseStatus status={status} /> },
  { title: 'Error', show: ({ error }) => error?.type ?? '' },
  { title: 'Milliseconds', isNumber: true, show: ({ milliseconds }) => showNumber(milliseconds) },
  {
    title: 'By',
    show: ({ credential }) => (credential === null ? 'anonymous' : <Actor actor={credential.id} />),
  },
  { title: 'Request id', isWideOnly: true, show: ({ id }) => <Copyable value={id} /> },
];

function FindById() {
  const [, navigate] = useLocation();
  const [id, setId] = useState('');
  const isId = /^[\w.-]{1,128}$/.test(id.trim());
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isId) {
          navigate(pathOf(id.trim()));
        }
      }}
    >
      <Group gap="xs" wrap="nowrap">
        <TextInput
          size="xs"
          aria-label="Request id"
          placeholder="X-Request-Id  /"
          data-screen-search
          maxLength={128}
          value={id}
          onChange={({ currentTarget }) => setId(currentTarget.value)}
        />
        <Button type="submit" size="xs" variant="default" disabled={!isId}>
          Find
        </Button>
      </Group>
    </form>
  );
}

export function RequestList() {
  const curd = useCurd();
  const [, navigate] = useLocation();
  const { filters, change, isFiltered } = useUrlFilters(filterReaders, 'push');
  const list = useNewestFirst(['requests', filters], (cursor, signal) =>
    curd.requests.list({ ...filters, cursor, limit: 50 }, { signal }),
  );
  return (
    <ListScreen
      title="Requests"
      list={list}
      columns={columns}
      // Clients choose ids, which can repeat.
      keyOf={({ id, at, route, milliseconds }) => `${id} ${at} ${route} ${milliseconds}`}
      nameOf={({ id }) => `request ${id}`}
      onOpen={({ id }) => navigate(pathOf(id))}
      actions={<FindById />}
      filters={<Filters filters={filters} onChange={change} />}
      empty={
        <Empty title={isFiltered ? 'No such requests' : 'No requests'}>
          {list.earlier === null
            ? 'Kept for 24 hours are changes, responses from 400 on, requests slower than 500 ms, and requests that sent X-Request-Id, unless CURD_REQUEST_LOG is off.'
            : 'The newest 5,000 requests were searched.'}
        </Empty>
      }
    >
      {list.data !== undefined && list.data.pages.length > 1 ? (
        <Text size="sm" c="dimmed" ta="center">
          New requests appear when you open the list again.
        </Text>
      ) : null}
    </ListScreen>
  );
}

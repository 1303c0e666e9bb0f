/** The requests that are kept, the newest first. */
import { Anchor, Button, Group, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { Result } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { Empty, Loading, PageTitle, Problem } from '../../parts/page.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { EarlierButton, useNewestFirst } from '../../parts/tables/newest-first.tsx';
import type { Column } from '../../parts/tables/table-row.tsx';
import { Actor } from '../../parts/text/actor.tsx';
import { Copyable } from '../../parts/text/copyable.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import { Filters, filtersOf, methodOf } from './filters.tsx';
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
  const [search, setSearch] = useSearchParams();
  const filters = filtersOf(search);
  const hasFilters = Object.keys(filters).length > 0;
  const { list, rows } = useNewestFirst(['requests', filters], (cursor, signal) =>
    curd.requests.list({ ...filters, method: methodOf(filters.method), cursor, limit: 50 }, { signal }),
  );
  return (
    <>
      <PageTitle title="Requests">
        <FindById />
      </PageTitle>
      <Filters
        filters={filters}
        onChange={(next) => setSearch(Object.entries(next).filter(([, value]) => value !== ''))}
      />
      {list.isPending ? <Loading what="requests" /> : null}
      {list.isError ? <Problem error={list.error} retry={list.refetch} /> : null}
      {list.isSuccess && rows.length === 0 ? (
        <Empty title={hasFilters ? 'No such requests' : 'No requests'}>
          {list.hasNextPage
            ? 'The newest 5,000 requests were searched.'
            : 'Kept for 24 hours are changes, responses from 400 on, requests slower than 500 ms, and requests that sent X-Request-Id, unless CURD_REQUEST_LOG is off.'}
        </Empty>
      ) : null}
      {rows.length === 0 ? null : (
        <DataTable
          label="Requests"
          columns={columns}
          rows={rows}
          // Clients choose ids, which can repeat.
          keyOf={({ id, at, route, milliseconds }) => `${id} ${at} ${route} ${milliseconds}`}
          nameOf={({ id }) => `request ${id}`}
          onOpen={({ id }) => navigate(pathOf(id))}
        />
      )}
      <EarlierButton list={list} label="Earlier requests" />
      {list.data !== undefined && list.data.pages.length > 1 ? (
        <Text size="sm" c="dimmed" ta="center">
          New requests appear when you open the list again.
        </Text>
      ) : null}
    </>
  );
}

/** Customers: search, and one customer. */
import { Badge, Group, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { Query, Result } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { Empty, Loading, PageTitle, Problem } from '../../parts/page.tsx';
import type { ScreenProps } from '../../parts/screen.ts';
import { ColumnsButton } from '../../parts/tables/columns.tsx';
import { CsvButton } from '../../parts/tables/csv-button.tsx';
import { PagedTable } from '../../parts/tables/paged-table.tsx';
import { usePages } from '../../parts/tables/pages.ts';
import type { Column } from '../../parts/tables/table-row.tsx';
import { showMoney } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import { CustomerDetail } from './customer.tsx';
import { tierColors } from './tiers.ts';

type Filters = NonNullable<Query<'listCustomers'>>;
type Details = Result<'getCustomerById'>;

export default function Customers({ id }: ScreenProps) {
  return id === undefined ? <CustomerList /> : <CustomerDetail id={Number(id)} />;
}

/** The filters of the URL, and how to change one. */
function useFilters() {
  const [parameters, setParameters] = useSearchParams();
  const filters = {
    q: parameters.get('q') ?? undefined,
    status: (parameters.get('status') ?? undefined) as Filters['status'],
    role: (parameters.get('role') ?? undefined) as Filters['role'],
  };
  function change(name: keyof typeof filters, value: string | null): void {
    setParameters(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === null || value === '') {
          next.delete(name);
        } else {
          next.set(name, value);
        }
        return next;
      },
      { replace: true },
    );
  }
  return { filters, change };
}

const columns: readonly Column<Details>[] = [
  {
    title: 'Username',
    show: ({ customer }) => (
      <Text component={Link} href={`/customers/${customer.id}`} size="sm" fw={600} c="inherit">
        {customer.username}
      </Text>
    ),
  },
  { title: 'Name', show: ({ customer }) => `${customer.firstName} ${customer.lastName}` },
  { title: 'E-mail', show: ({ customer }) => customer.email },
  {
    title: 'Tier',
    show: ({ customer }) => (
      <Badge variant="dot" color={tierColors[customer.customerStatus]}>
        {customer.customerStatus}
      </Badge>
    ),
  },
  {
    title: 'Lifetime value',
    isNumber: true,
    show: ({ deliveredTotal }) => showMoney(deliveredTotal),
  },
  { title: 'Role', isWideOnly: true, show: ({ role }) => role },
  {
    title: 'Since',
    isWideOnly: true,
    show: ({ customer }) => <Time at={customer.createdAt} isRelative />,
  },
];

const csvColumns = {
  id: ({ customer }: Details) => customer.id,
  username: ({ customer }: Details) => customer.username,
  email: ({ customer }: Details) => customer.email,
  firstName: ({ customer }: Details) => customer.firstName,
  lastName: ({ customer }: Details) => customer.lastName,
  tier: ({ customer }: Details) => customer.customerStatus,
  deliveredTotal: ({ deliveredTotal }: Details) => deliveredTotal,
  role: ({ role }: Details) => role,
  createdAt: ({ customer }: Details) => customer.createdAt,
};

function CustomerList() {
  const curd = useCurd();
  const [, navigate] = useLocation();
  const { filters, change } = useFilters();
  const [text, setText] = useState(filters.q ?? '');
  const [query] = useDebouncedValue(text.trim(), 200);
  const changeQuery = change;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new text changes the URL.
  useEffect(() => {
    if (query !== (filters.q ?? '')) {
      changeQuery('q', query);
    }
  }, [query]);

  const list = usePages({
    key: ['customers', filters],
    read: ({ cursor, limit, signal }) => curd.customers.list({ ...filters, limit, cursor }, { signal }),
    idOf: ({ customer }) => customer.id,
  });
  const { data, error, refetch, rows } = list;
  const isFiltered = Object.values(filters).some((value) => value !== undefined);

  return (
    <>
      <PageTitle title="Customers">
        <CsvButton
          name="customers"
          columns={csvColumns}
          read={(max) => curd.customers.list({ ...filters, limit: 100 }).take(max)}
          remedy="Filter by tier or role for the others."
        />
      </PageTitle>
      <Group mb="sm" align="end" gap="xs">
        <TextInput
          data-screen-search
          label="Search"
          placeholder="Username, e-mail, last name, first and last name"
          value={text}
          maxLength={100}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          style={{ flex: '1 1 18rem' }}
        />
        <Select
          label="Tier"
          placeholder="All"
          clearable
          data={['bronze', 'silver', 'gold', 'platinum']}
          value={filters.status ?? null}
          onChange={(value) => change('status', value)}
          w={130}
        />
        <Select
          label="Role"
          placeholder="All"
          clearable
          data={['customer', 'staff']}
          value={filters.role ?? null}
          onChange={(value) => change('role', value)}
          w={130}
        />
        <ColumnsButton list="Customers" columns={columns} />
      </Group>
      {error !== null ? (
        <Problem error={error} retry={refetch} />
      ) : data === undefined ? (
        <Loading what="customers" />
      ) : rows.length === 0 ? (
        isFiltered ? (
          <Empty title="No customer matches">
            The search looks at the beginning of usernames, e-mail addresses and names.
          </Empty>
        ) : (
          <Empty title="No customers yet">They appear here when they register in the shop.</Empty>
        )
      ) : (
        <PagedTable<Details>
          list={list}
          label="Customers"
          keyOf={({ customer }) => customer.id}
          nameOf={({ customer }) => customer.username}
          onOpen={({ customer }) => navigate(`/customers/${customer.id}`)}
          columns={columns}
        />
      )}
    </>
  );
}

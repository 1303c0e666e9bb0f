/** Customers: search, and one customer. */
import { Badge, Group, Text } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import type { Result } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { SelectFilter } from '../../parts/fields/select-filter.tsx';
import { TextFilter } from '../../parts/fields/text-filter.tsx';
import { ListScreen } from '../../parts/list-screen.tsx';
import { Empty } from '../../parts/page.tsx';
import type { ScreenProps } from '../../parts/screen.ts';
import { ColumnsButton } from '../../parts/tables/columns-button.tsx';
import { CsvButton } from '../../parts/tables/csv-button.tsx';
import { usePages } from '../../parts/tables/pages.ts';
import type { Column } from '../../parts/tables/table-row.tsx';
import { showMoney } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import { asOneOf, asText, useUrlFilters } from '../../parts/url-filters.ts';
import { CustomerDetail } from './customer.tsx';
import { tierColors } from './tiers.ts';

type Details = Result<'getCustomerById'>;

export default function Customers({ id }: ScreenProps) {
  return id === undefined ? <CustomerList /> : <CustomerDetail id={Number(id)} />;
}

const tiers = ['bronze', 'silver', 'gold', 'platinum'] as const;
const roles = ['customer', 'staff'] as const;
const filterReaders = { q: asText(100), status: asOneOf(tiers), role: asOneOf(roles) };

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
  const { filters, change, isFiltered } = useUrlFilters(filterReaders);
  const list = usePages({
    key: ['customers', filters],
    read: ({ cursor, limit, signal }) => curd.customers.list({ ...filters, limit, cursor }, { signal }),
    idOf: ({ customer }) => customer.id,
  });
  return (
    <ListScreen<Details>
      title="Customers"
      list={list}
      columns={columns}
      keyOf={({ customer }) => customer.id}
      nameOf={({ customer }) => customer.username}
      onOpen={({ customer }) => navigate(`/customers/${customer.id}`)}
      actions={
        <CsvButton
          name="customers"
          columns={csvColumns}
          read={(max) => curd.customers.list({ ...filters, limit: 100 }).take(max)}
          remedy="Filter by tier or role for the others."
        />
      }
      filters={
        <Group mb="sm" align="end" gap="xs">
          <TextFilter
            label="Search"
            placeholder="Username, e-mail, last name, first and last name"
            isSearch
            flex="1 1 18rem"
            text={filters.q}
            onChange={(q) => change({ q })}
          />
          <SelectFilter
            label="Tier"
            width="8rem"
            values={tiers}
            value={filters.status}
            onChange={(status) => change({ status })}
          />
          <SelectFilter
            label="Role"
            width="8rem"
            values={roles}
            value={filters.role}
            onChange={(role) => change({ role })}
          />
          <ColumnsButton list="Customers" columns={columns} />
        </Group>
      }
      empty={
        isFiltered ? (
          <Empty title="No customer matches">
            The search looks at the beginning of usernames, e-mail addresses and names.
          </Empty>
        ) : (
          <Empty title="No customers yet">They appear here when they register in the shop.</Empty>
        )
      }
    />
  );
}

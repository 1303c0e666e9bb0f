/** Filters of mails. They are in the URL. */
import { Group, SegmentedControl } from '@mantine/core';
import type { Query } from '../../../../client/src/index.ts';
import { TextFilter } from '../../parts/fields/text-filter.tsx';
import { nameOfState, states } from './state.tsx';

const names = ['state', 'customer', 'order'] as const;

type Filters = Readonly<Partial<Record<(typeof names)[number], string>>>;

export const idPattern = /^[1-9]\d{0,14}$/;

/** Reads the filters of a URL. Those that no mail can have are left out. */
export function filtersOf(search: URLSearchParams): Filters {
  const isFilter = (name: string, value: string) =>
    name === 'state' ? states.some((state) => state === value) : idPattern.test(value);
  return Object.fromEntries(
    names
      .map((name) => [name, search.get(name) ?? ''] as const)
      .filter(([name, value]) => isFilter(name, value)),
  );
}

export function toQuery({ state, customer, order }: Filters): Query<'listMails'> {
  return {
    state: states.find((one) => one === state),
    ...(customer === undefined ? {} : { customerId: Number(customer) }),
    ...(order === undefined ? {} : { orderId: Number(order) }),
  };
}

interface Props {
  readonly filters: Filters;
  readonly onChange: (changes: Filters) => void;
}

export function MailFilters({ filters, onChange }: Props) {
  const hint = { pattern: idPattern, text: 'A number, such as 31' };
  return (
    <Group align="end" mb="sm" gap="sm" wrap="wrap">
      <SegmentedControl
        size="xs"
        aria-label="State"
        data={['all', ...states.map((state) => ({ value: state, label: nameOfState(state) }))]}
        value={filters.state ?? 'all'}
        onChange={(state) => onChange({ state: state === 'all' ? '' : state })}
      />
      <TextFilter
        label="Customer id"
        placeholder="5"
        text={filters.customer}
        hint={hint}
        onChange={(customer) => onChange({ customer })}
      />
      <TextFilter
        label="Order id"
        placeholder="31"
        text={filters.order}
        hint={hint}
        onChange={(order) => onChange({ order })}
      />
    </Group>
  );
}

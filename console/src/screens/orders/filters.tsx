/** The filters of the list of orders. They live in the URL. */
import { Button, Group, MultiSelect, Select, TextInput } from '@mantine/core';
import { useDebouncedValue, useMediaQuery } from '@mantine/hooks';
import { useState } from 'react';
import { type SetSearchParams, useLocation } from 'wouter';
import { useApi } from '../../data/queries.ts';
import { statuses } from './transitions.ts';

interface Props {
  readonly search: URLSearchParams;
  readonly setSearch: SetSearchParams;
  /** Where the tab does not decide it. */
  readonly isStatusOpen: boolean;
}

export function OrderFilters({ search, setSearch, isStatusOpen }: Props) {
  const [, navigate] = useLocation();
  const isPhone = useMediaQuery('(max-width: 48em)') ?? false;
  const [isOpen, setOpen] = useState(false);
  const set = (name: string, value: string) =>
    setSearch(
      (old) => {
        const params = new URLSearchParams(old);
        if (value === '') {
          params.delete(name);
        } else {
          params.set(name, value);
        }
        return params;
      },
      { replace: true },
    );
  if (isPhone && !isOpen) {
    return (
      <Button size="xs" variant="default" mb="sm" onClick={() => setOpen(true)}>
        Filters
      </Button>
    );
  }
  return (
    <Group gap="xs" mb="sm" align="end">
      <TextInput
        size="xs"
        w={90}
        label="Order id"
        inputMode="numeric"
        data-screen-search
        onKeyDown={({ key, currentTarget: { value } }) => {
          if (key === 'Enter' && /^[1-9]\d{0,14}$/.test(value.trim())) {
            navigate(`/orders/${value.trim()}`);
          }
        }}
      />
      {isStatusOpen ? (
        <MultiSelect
          size="xs"
          w={150}
          label="Status"
          placeholder={search.get('status') === null ? 'Any' : ''}
          clearable
          data={[...statuses]}
          value={(search.get('status') ?? '').split(',').filter(Boolean)}
          onChange={(values) => set('status', values.join(','))}
        />
      ) : null}
      <TextInput
        size="xs"
        type="date"
        label="From"
        value={search.get('from') ?? ''}
        onChange={({ currentTarget }) => set('from', currentTarget.value)}
      />
      <TextInput
        size="xs"
        type="date"
        label="To"
        value={search.get('to') ?? ''}
        onChange={({ currentTarget }) => set('to', currentTarget.value)}
      />
      <CustomerFilter
        value={search.get('customer')}
        onChange={(customerId) => set('customer', customerId ?? '')}
      />
      <TextInput
        size="xs"
        w={100}
        label="Placed by"
        placeholder="key:12"
        defaultValue={search.get('placedBy') ?? ''}
        onBlur={({ currentTarget }) => set('placedBy', currentTarget.value.trim())}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Enter') {
            set('placedBy', currentTarget.value.trim());
          }
        }}
      />
      <Select
        size="xs"
        w={130}
        label="Sort"
        allowDeselect={false}
        data={[
          { value: '-createdAt', label: 'Newest first' },
          { value: 'createdAt', label: 'Oldest first' },
        ]}
        value={search.get('sort') === 'createdAt' ? 'createdAt' : '-createdAt'}
        onChange={(value) => set('sort', value === 'createdAt' ? value : '')}
      />
    </Group>
  );
}

/** Customers are found by the beginning of a name, an e-mail address or a username. */
export function CustomerFilter({
  value,
  onChange,
}: {
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
}) {
  const [text, setText] = useState('');
  const [query] = useDebouncedValue(text.trim(), 200);
  const found = useApi(['customers', 'filter', query], async (curd) =>
    query === ''
      ? []
      : (await curd.customers.list({ q: query, limit: 10 })).items.map(({ customer }) => customer),
  );
  const chosen = useApi([`customer ${value ?? ''}`, 'filter'], async (curd) =>
    value === null ? null : (await curd.customers.getById(Number(value))).customer,
  );
  const options = new Map(
    [...(found.data ?? []), ...(chosen.data ? [chosen.data] : [])].map(
      ({ id, firstName, lastName, username }) => [
        String(id),
        `${firstName} ${lastName} (${username})`.trim(),
      ],
    ),
  );
  return (
    <Select
      size="xs"
      w={170}
      label="Customer"
      placeholder="Name or e-mail"
      searchable
      clearable
      filter={({ options: all }) => all}
      nothingFoundMessage={query === '' ? 'Write the beginning of a name' : 'Nobody was found'}
      data={[...options].map(([id, label]) => ({ value: id, label }))}
      value={value}
      onChange={onChange}
      onSearchChange={setText}
    />
  );
}

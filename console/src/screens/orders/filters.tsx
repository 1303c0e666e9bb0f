/** The filters of the list of orders. They live in the URL. */
import { Button, Group, MultiSelect, Select, TextInput } from '@mantine/core';
import { useDebouncedValue, useMediaQuery } from '@mantine/hooks';
import { useState } from 'react';
import { type SetSearchParams, useLocation } from 'wouter';
import type { Cheese, Curd, Customer } from '../../../../client/src/index.ts';
import { useApi } from '../../data/queries.ts';
import { chooseFirst } from '../../parts/fields/choose-first.ts';
import { CountrySelect } from '../../parts/fields/country-select.tsx';
import { describeCustomer } from '../../parts/text/customer-name.ts';
import { statuses } from './transitions.ts';

interface Props {
  readonly search: URLSearchParams;
  readonly setSearch: SetSearchParams;
  /** Where the tab does not decide it. */
  readonly isStatusOpen: boolean;
}

function setParameter(setSearch: SetSearchParams, name: string, value: string): void {
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
}

export function OrderFilters({ search, setSearch, isStatusOpen }: Props) {
  const [, navigate] = useLocation();
  const isPhone = useMediaQuery('(max-width: 48em)') ?? false;
  const [isOpen, setOpen] = useState(false);
  const set = (name: string, value: string) => setParameter(setSearch, name, value);
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
        w={84}
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
          w={172}
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
        w={128}
        label="From"
        value={search.get('from') ?? ''}
        onChange={({ currentTarget }) => set('from', currentTarget.value)}
      />
      <TextInput
        size="xs"
        type="date"
        w={128}
        label="To"
        value={search.get('to') ?? ''}
        onChange={({ currentTarget }) => set('to', currentTarget.value)}
      />
      <CustomerFilter
        value={search.get('customer')}
        onChange={(customerId) => set('customer', customerId ?? '')}
      />
      <CountrySelect
        label="Country"
        w={140}
        value={search.get('country')}
        onChange={(country) => set('country', country ?? '')}
      />
      <CheeseFilter value={search.get('cheese')} onChange={(cheeseId) => set('cheese', cheeseId ?? '')} />
      <TextFilter
        label="Placed by"
        placeholder="key:12"
        width={84}
        maxLength={120}
        value={search.get('placedBy') ?? ''}
        onChange={(placedBy) => set('placedBy', placedBy)}
      />
    </Group>
  );
}

export function OrderSort({ search, setSearch }: Omit<Props, 'isStatusOpen'>) {
  return (
    <Select
      size="xs"
      w={130}
      aria-label="Sort"
      allowDeselect={false}
      data={[
        { value: '-createdAt', label: 'Newest first' },
        { value: 'createdAt', label: 'Oldest first' },
      ]}
      value={search.get('sort') === 'createdAt' ? 'createdAt' : '-createdAt'}
      onChange={(value) => setParameter(setSearch, 'sort', value === 'createdAt' ? value : '')}
    />
  );
}

interface TextProps {
  readonly label: string;
  readonly placeholder: string;
  readonly width: number;
  readonly maxLength: number;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Filters when the field is left, or by Enter. */
function TextFilter({ width, value, onChange, ...field }: TextProps) {
  const [text, setText] = useState(value);
  const [known, setKnown] = useState(value);
  // The URL was changed otherwise: by a view, or by the browser.
  if (known !== value) {
    setKnown(value);
    setText(value);
  }
  const filter = () => {
    if (text.trim() !== value) {
      onChange(text.trim());
    }
  };
  return (
    <TextInput
      size="xs"
      w={width}
      {...field}
      value={text}
      onChange={({ currentTarget }) => setText(currentTarget.value)}
      onBlur={filter}
      onKeyDown={({ key }) => {
        if (key === 'Enter') {
          filter();
        }
      }}
    />
  );
}

interface FoundProps {
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
}

/** Customers are found by the beginning of a name, an e-mail address or a username. */
export function CustomerFilter({ width = 150, ...props }: FoundProps & { readonly width?: number | string }) {
  const nameOf = (customer: Customer): Option => ({
    value: String(customer.id),
    label: describeCustomer(customer),
  });
  return (
    <SearchFilter
      {...props}
      kind="customer"
      label="Customer"
      placeholder="Name or e-mail"
      width={width}
      nobody="Nobody was found"
      find={async (curd, q) =>
        (await curd.customers.list({ q, limit: 10 })).items.map(({ customer }) => nameOf(customer))
      }
      read={async (curd, id) => nameOf((await curd.customers.getById(id)).customer)}
    />
  );
}

/** Cheeses are found by the beginnings of the words of their names. */
function CheeseFilter(props: FoundProps) {
  const nameOf = ({ id, name }: Pick<Cheese, 'id' | 'name'>): Option => ({ value: String(id), label: name });
  return (
    <SearchFilter
      {...props}
      kind="cheese"
      label="Cheese, open orders"
      placeholder="Name"
      nobody="No cheese was found"
      find={async (curd, q) => (await curd.cheeses.list({ q, limit: 10 })).items.map(nameOf)}
      read={async (curd, id) => nameOf(await curd.cheeses.get(id))}
    />
  );
}

interface Option {
  readonly value: string;
  readonly label: string;
}

interface SearchProps extends FoundProps {
  readonly kind: 'customer' | 'cheese';
  readonly label: string;
  readonly placeholder: string;
  readonly width?: number | string;
  readonly nobody: string;
  readonly find: (curd: Curd, query: string) => Promise<Option[]>;
  readonly read: (curd: Curd, id: number) => Promise<Option>;
}

/** Finds by the beginning of a name, and shows the name of what was chosen. */
function SearchFilter(props: SearchProps) {
  const { kind, label, placeholder, width = 150, nobody, value, onChange, find, read } = props;
  const [text, setText] = useState('');
  const [query] = useDebouncedValue(text.trim(), 200);
  const found = useApi([`${kind}s`, 'filter', query], async (curd) =>
    query === '' ? [] : await find(curd, query),
  );
  const chosen = useApi([`${kind} ${value ?? ''}`, 'filter'], async (curd) =>
    value === null || !/^[1-9]\d{0,14}$/.test(value) ? null : await read(curd, Number(value)),
  );
  const options = new Map(
    [...(found.data ?? []), ...(chosen.data ? [chosen.data] : [])].map((one) => [one.value, one]),
  );
  return (
    <Select
      size="xs"
      w={width}
      label={label}
      placeholder={placeholder}
      searchable
      onKeyDown={chooseFirst}
      clearable
      filter={({ options: all }) => all}
      nothingFoundMessage={query === '' ? 'Write the beginning of a name' : nobody}
      data={[...options.values()]}
      value={value}
      onChange={onChange}
      onSearchChange={(next) => {
        setText(next);
        // The button that clears is for the mouse alone.
        if (next === '' && text !== '' && value !== null) {
          onChange(null);
        }
      }}
    />
  );
}

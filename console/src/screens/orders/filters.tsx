/** The filters of the list of orders. They live in the URL. */
import { Button, Group, MultiSelect, Select, TextInput } from '@mantine/core';
import { useDebouncedValue, useMediaQuery } from '@mantine/hooks';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Cheese, Curd, Customer } from '../../../../client/src/index.ts';
import { useApi } from '../../data/queries.ts';
import { chooseFirst } from '../../parts/fields/choose-first.ts';
import { CountrySelect } from '../../parts/fields/country-select.tsx';
import { describeCustomer } from '../../parts/text/customer-name.ts';
import { readId } from '../../parts/text/ids.ts';
import { asId, asOneOf, asSomeOf, asText, type Changes, type Filters } from '../../parts/url-filters.ts';
import { statuses } from './transitions.ts';

export const filterReaders = {
  status: asSomeOf(statuses),
  from: asText(),
  to: asText(),
  customer: asId,
  country: asText(),
  cheese: asId,
  placedBy: asText(),
  sort: asOneOf(['createdAt']),
};

export type UrlFilters = Filters<typeof filterReaders>;

interface Props {
  readonly filters: UrlFilters;
  readonly onChange: (changes: Changes<typeof filterReaders>) => void;
  /** Whether the status can be chosen: the tab does not decide it. */
  readonly isStatusOpen: boolean;
}

export function OrderFilters({ filters, onChange, isStatusOpen }: Props) {
  const [, navigate] = useLocation();
  const isPhone = useMediaQuery('(max-width: 48em)') ?? false;
  const [isOpen, setOpen] = useState(false);
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
          const id = readId(value.trim());
          if (key === 'Enter' && id !== undefined) {
            navigate(`/orders/${id}`);
          }
        }}
      />
      {isStatusOpen ? (
        <MultiSelect
          size="xs"
          w={172}
          label="Status"
          placeholder={filters.status === undefined ? 'Any' : ''}
          clearable
          data={[...statuses]}
          value={filters.status ?? []}
          onChange={(status) => onChange({ status: status.join() })}
        />
      ) : null}
      <TextInput
        size="xs"
        type="date"
        w={128}
        label="From"
        value={filters.from ?? ''}
        onChange={({ currentTarget }) => onChange({ from: currentTarget.value })}
      />
      <TextInput
        size="xs"
        type="date"
        w={128}
        label="To"
        value={filters.to ?? ''}
        onChange={({ currentTarget }) => onChange({ to: currentTarget.value })}
      />
      <CustomerFilter value={textOf(filters.customer)} onChange={(customer) => onChange({ customer })} />
      <CountrySelect
        label="Country"
        w={140}
        value={filters.country ?? null}
        onChange={(country) => onChange({ country })}
      />
      <CheeseFilter value={textOf(filters.cheese)} onChange={(cheese) => onChange({ cheese })} />
      <TextFilter
        label="Placed by"
        placeholder="key:12"
        width={84}
        maxLength={120}
        value={filters.placedBy ?? ''}
        onChange={(placedBy) => onChange({ placedBy })}
      />
    </Group>
  );
}

const textOf = (id: number | undefined) => (id === undefined ? null : String(id));

export function OrderSort({ filters, onChange }: Omit<Props, 'isStatusOpen'>) {
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
      value={filters.sort ?? '-createdAt'}
      onChange={(sort) => onChange({ sort: sort === 'createdAt' ? sort : null })}
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
  const id = readId(value);
  const chosen = useApi([`${kind} ${value ?? ''}`, 'filter'], async (curd) =>
    id === undefined ? null : await read(curd, id),
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

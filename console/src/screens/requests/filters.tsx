/** Filters of the request log. They are in the URL. */
import { Group, Select } from '@mantine/core';
import { useRef } from 'react';
import { TextFilter } from '../../parts/fields/text-filter.tsx';
import { TimeField } from '../../parts/fields/time-field.tsx';

const names = ['status', 'method', 'route', 'error', 'credential', 'from', 'before'] as const;

export type RequestFilters = Readonly<Partial<Record<(typeof names)[number], string>>>;

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

export type Method = (typeof methods)[number];

/** Reads the filters of a URL. */
export function filtersOf(search: URLSearchParams): RequestFilters {
  return Object.fromEntries(
    names.map((name) => [name, search.get(name)?.trim()]).filter(([, value]) => value),
  );
}

export const methodOf = (text: string | undefined) => methods.find((one) => one === text);

interface Props {
  readonly filters: RequestFilters;
  readonly onChange: (filters: RequestFilters) => void;
}

export function Filters({ filters, onChange }: Props) {
  const latest = useRef(filters);
  latest.current = filters;
  const change = (name: keyof RequestFilters, value: string | null) =>
    onChange({ ...latest.current, [name]: value ?? '' });
  return (
    <Group align="start" mb="sm" gap="sm" wrap="wrap">
      <TextFilter
        label="Status"
        placeholder="422 or 4xx"
        text={filters.status}
        hint={{ pattern: /^[1-5](\d\d|xx)$/i, text: 'Such as 422, or 4xx' }}
        onChange={(value) => change('status', value)}
      />
      <Select
        label="Method"
        placeholder="all"
        data={[...methods]}
        value={methodOf(filters.method) ?? null}
        clearable
        clearButtonProps={{ 'aria-label': 'All methods' }}
        onChange={(value) => change('method', value)}
        style={{ flex: '0 1 6.5rem', minWidth: 0 }}
      />
      <TextFilter
        label="Route"
        placeholder="/v2/cheeses/{cheeseId}"
        text={filters.route}
        onChange={(value) => change('route', value)}
      />
      <TextFilter
        label="Error"
        placeholder="not_found"
        text={filters.error}
        onChange={(value) => change('error', value)}
      />
      <TextFilter
        label="Credential"
        placeholder="key:12"
        text={filters.credential}
        onChange={(value) => change('credential', value)}
      />
      <TimeField label="From" time={filters.from ?? null} onChange={(value) => change('from', value)} />
      <TimeField label="Before" time={filters.before ?? null} onChange={(value) => change('before', value)} />
    </Group>
  );
}

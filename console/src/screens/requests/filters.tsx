/** Filters of the request log. They are in the URL. */
import { Group, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
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

interface TextFilterProps {
  readonly label: string;
  readonly placeholder: string;
  readonly text: string | undefined;
  /** What is said instead of a search for a text that is refused. */
  readonly hint?: { readonly pattern: RegExp; readonly text: string };
  readonly onChange: (text: string) => void;
}

function TextFilter({ label, placeholder, text = '', hint, onChange }: TextFilterProps) {
  const [written, setWritten] = useState(text);
  const asked = useRef(text);
  const search = useDebouncedCallback((value: string) => {
    asked.current = value;
    onChange(value);
  }, 300);
  useEffect(() => {
    // Another part of the page changed it. What is being written stays.
    if (text !== asked.current) {
      asked.current = text;
      setWritten(text);
    }
  }, [text]);
  const isRefused = (value: string) => hint !== undefined && value !== '' && !hint.pattern.test(value);
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      maxLength={200}
      value={written}
      error={isRefused(written.trim()) ? hint?.text : null}
      onChange={({ currentTarget: { value } }) => {
        setWritten(value);
        if (!isRefused(value.trim())) {
          search(value.trim());
        }
      }}
      style={{ flex: '1 1 6.5rem', minWidth: 0 }}
    />
  );
}

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

/** Filters of the request log. They are in the URL. */
import { Group } from '@mantine/core';
import { SelectFilter } from '../../parts/fields/select-filter.tsx';
import { TextFilter } from '../../parts/fields/text-filter.tsx';
import { TimeField } from '../../parts/fields/time-field.tsx';
import { asOneOf, asText, type Changes, type Filters as FiltersOf } from '../../parts/url-filters.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

export const filterReaders = {
  status: asText(),
  method: asOneOf(methods),
  route: asText(),
  error: asText(),
  credential: asText(),
  from: asText(),
  before: asText(),
};

interface Props {
  readonly filters: FiltersOf<typeof filterReaders>;
  readonly onChange: (changes: Changes<typeof filterReaders>) => void;
}

export function Filters({ filters, onChange }: Props) {
  return (
    <Group align="start" mb="sm" gap="sm" wrap="wrap">
      <TextFilter
        label="Status"
        placeholder="422 or 4xx"
        text={filters.status}
        hint={{ pattern: /^[1-5](\d\d|xx)$/i, text: 'Such as 422, or 4xx' }}
        onChange={(status) => onChange({ status })}
      />
      <SelectFilter
        label="Method"
        values={methods}
        value={filters.method}
        onChange={(method) => onChange({ method })}
      />
      <TextFilter
        label="Route"
        placeholder="/v2/cheeses/{cheeseId}"
        text={filters.route}
        onChange={(route) => onChange({ route })}
      />
      <TextFilter
        label="Error"
        placeholder="not_found"
        text={filters.error}
        onChange={(error) => onChange({ error })}
      />
      <TextFilter
        label="Credential"
        placeholder="key:12"
        text={filters.credential}
        onChange={(credential) => onChange({ credential })}
      />
      <TimeField label="From" time={filters.from ?? null} onChange={(from) => onChange({ from })} />
      <TimeField label="Before" time={filters.before ?? null} onChange={(before) => onChange({ before })} />
    </Group>
  );
}

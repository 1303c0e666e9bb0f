/** Filters of the event log. They are in the URL. */
import { Button, Group, MultiSelect } from '@mantine/core';
import { TextFilter } from '../../parts/fields/text-filter.tsx';
import { TimeField } from '../../parts/fields/time-field.tsx';
import { asText, type Changes } from '../../parts/url-filters.ts';
import { kinds, typesMax } from './event-types.ts';
import type { Filters } from './newest.ts';

export interface LogView extends Filters {
  /** A position or time to read from; null shows the newest events as they come. */
  readonly since: string | null;
}

export const filterReaders = {
  types: ([text = '']: readonly string[]) => text.split(',').filter(Boolean).slice(0, typesMax),
  subject: asText(),
  since: asText(),
};

const choices = kinds.map(({ name, all, types }) => ({
  group: name,
  items: types.length === 1 ? [...types] : [all, ...types],
}));

interface Props {
  readonly view: LogView;
  readonly onChange: (changes: Changes<typeof filterReaders>) => void;
}

export function LogFilters({ view, onChange }: Props) {
  return (
    <Group align="end" mb="sm" gap="sm" wrap="wrap">
      <MultiSelect
        label="Types"
        placeholder={view.types.length === 0 ? 'all' : undefined}
        data={choices}
        value={[...view.types]}
        maxValues={typesMax}
        onChange={(types) => onChange({ types: types.join() })}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'All types' }}
        nothingFoundMessage="There is no such type"
        style={{ flex: '2 1 16rem' }}
      />
      <TextFilter
        label="Subject"
        placeholder="order:31"
        isSearch
        flex="1 1 9rem"
        text={view.subject}
        hint={{ pattern: /^\w+:.+$/, text: 'A kind and an id, such as order:31' }}
        onChange={(subject) => onChange({ subject })}
      />
      <TimeField label="From" time={view.since} onChange={(since) => onChange({ since })} />
      {view.since === null ? null : (
        <Button variant="default" onClick={() => onChange({ since: null })}>
          Live
        </Button>
      )}
    </Group>
  );
}

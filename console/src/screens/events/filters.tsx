/** Filters of the event log. They are in the URL. */
import { Button, Group, MultiSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { TimeField } from '../../parts/fields/time-field.tsx';
import { kinds, typesMax } from './event-types.ts';
import type { Filters } from './newest.ts';

export interface LogView extends Filters {
  /** A position or time to read from; null shows the newest events as they come. */
  readonly since: string | null;
}

/** Reads the filters of a URL. */
export function viewOf(search: URLSearchParams): LogView {
  return {
    types: search.get('types')?.split(',').filter(Boolean).slice(0, typesMax) ?? [],
    subject: search.get('subject') ?? '',
    since: search.get('since'),
  };
}

export function toSearch({ types, subject, since }: LogView): URLSearchParams {
  const search = new URLSearchParams();
  if (types.length > 0) {
    search.set('types', types.join(','));
  }
  if (subject !== '') {
    search.set('subject', subject);
  }
  if (since !== null) {
    search.set('since', since);
  }
  return search;
}

const choices = kinds.map(({ name, all, types }) => ({
  group: name,
  items: types.length === 1 ? [...types] : [all, ...types],
}));

interface Props {
  readonly view: LogView;
  readonly onChange: (view: LogView) => void;
}

export function LogFilters({ view, onChange }: Props) {
  const [subject, setSubject] = useState(view.subject);
  const search = useDebouncedCallback((text: string) => onChange({ ...view, subject: text.trim() }), 300);
  const isComplete = (text: string) => /^\s*(\w+:.+)?$/.test(text);
  return (
    <Group align="end" mb="sm" gap="sm" wrap="wrap">
      <MultiSelect
        label="Types"
        placeholder={view.types.length === 0 ? 'all' : undefined}
        data={choices}
        value={[...view.types]}
        maxValues={typesMax}
        onChange={(types) => onChange({ ...view, types })}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'All types' }}
        nothingFoundMessage="There is no such type"
        style={{ flex: '2 1 16rem' }}
      />
      <TextInput
        label="Subject"
        placeholder="order:31"
        data-screen-search
        value={subject}
        error={isComplete(subject) ? null : 'A kind and an id, such as order:31'}
        onChange={({ currentTarget: { value } }) => {
          setSubject(value);
          if (isComplete(value)) {
            search(value);
          }
        }}
        style={{ flex: '1 1 9rem' }}
      />
      <TimeField label="From" time={view.since} onChange={(since) => onChange({ ...view, since })} />
      {view.since === null ? null : (
        <Button variant="default" onClick={() => onChange({ ...view, since: null })}>
          Live
        </Button>
      )}
    </Group>
  );
}

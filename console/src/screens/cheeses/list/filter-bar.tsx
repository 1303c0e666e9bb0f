/** Search, filters and sort of the list of cheeses. */
import { Button, Group, SegmentedControl, Select } from '@mantine/core';
import { useDebouncedCallback, useMediaQuery } from '@mantine/hooks';
import { Cross2Icon } from '@radix-ui/react-icons';
import { type ReactNode, useEffect, useState } from 'react';
import type { Result } from '../../../../../client/src/index.ts';
import { monthRules, priceRules, readNumber, writeNumber } from '../../../parts/fields/number.ts';
import { NumberField } from '../../../parts/fields/number-field.tsx';
import { SearchField } from '../../../parts/fields/search-field.tsx';
import { currencySymbol, showNumber } from '../../../parts/text/format.ts';
import type { Changes } from '../../../parts/url-filters.ts';
import { flagFields, toFieldTitle } from '../fields.ts';
import { useMissingCounts } from '../queries.ts';
import { FilterFrame, FilterMenu } from './filter-menu.tsx';
import { type CheeseFilters, countFilters, type FacetName, type filterReaders, sorts } from './filters.ts';

export type Facets = Extract<Result<'listCheeses'>, { facets: unknown }>['facets'];

export type SetFilters = (changes: Changes<typeof filterReaders>) => void;

interface Props {
  readonly filters: CheeseFilters;
  readonly facets: Facets | undefined;
  readonly onChange: SetFilters;
  /** What is shown beside the sort. */
  readonly children: ReactNode;
}

export function FilterBar({ filters, facets, onChange, children }: Props) {
  const isPhone = useMediaQuery('(max-width: 48em)') ?? false;
  const [isOpen, setOpen] = useState(false);
  const missing = useMissingCounts(filters);
  const isAll = filters.tagsAll !== undefined;
  const tags = (isAll ? filters.tagsAll : filters.tags) ?? [];
  const facet = (name: FacetName) => facets?.[name] ?? { values: [], more: 0 };
  const one = (value: unknown) => (value === undefined ? [] : [String(value)]);
  const setTags = (chosen: readonly string[], all: boolean) =>
    onChange({ tags: all ? null : chosen, tagsAll: all ? chosen : null });

  const search = (
    <SearchField
      label="Search cheeses"
      text={filters.q ?? ''}
      onChange={(q) => onChange({ q: q === '' ? null : q })}
    />
  );
  if (isPhone && !isOpen && countFilters(filters) === 0) {
    return (
      <Group gap="xs" mb="sm" wrap="nowrap">
        {search}
        <Button size="xs" variant="default" onClick={() => setOpen(true)}>
          Filters
        </Button>
      </Group>
    );
  }
  return (
    <Group gap="xs" mb="sm" align="center">
      {search}
      <FilterMenu
        label="Status"
        {...facet('status')}
        chosen={filters.status ?? []}
        onChoose={(status) => onChange({ status })}
      />
      <FilterMenu
        label="Category"
        {...facet('category')}
        isSingle
        chosen={one(filters.category)}
        onChoose={(category) => onChange({ category })}
      />
      <FilterMenu label="Tags" {...facet('tags')} chosen={tags} onChoose={(chosen) => setTags(chosen, isAll)}>
        <TagMode isAll={isAll} tags={tags} onChange={setTags} />
      </FilterMenu>
      <FilterMenu
        label="Origin"
        {...facet('origin')}
        isSingle
        chosen={one(filters.origin)}
        onChoose={(origin) => onChange({ origin })}
      />
      {flagFields.map((field) => (
        <FilterMenu
          key={field}
          label={toFieldTitle(field)}
          {...facet(field)}
          isSingle
          nameOf={(value) => (value === 'true' ? 'Yes' : 'No')}
          chosen={one(filters[field])}
          onChoose={(chosen) => onChange({ [field]: chosen })}
        />
      ))}
      <Range
        label="Price"
        unit={currencySymbol}
        names={['minPrice', 'maxPrice']}
        filters={filters}
        onChange={onChange}
      />
      <Range label="Age" unit="months" names={['minAge', 'maxAge']} filters={filters} onChange={onChange} />
      {(['image', 'price'] as const).map((name) => {
        const isOn = filters.missing?.includes(name) ?? false;
        const others = filters.missing?.filter((other) => other !== name) ?? [];
        return (
          <Button
            key={name}
            size="xs"
            variant={isOn ? 'light' : 'default'}
            aria-pressed={isOn}
            onClick={() => onChange({ missing: isOn ? others : [...others, name] })}
          >
            No {name} {missing[name] === undefined ? '' : showNumber(missing[name])}
          </Button>
        );
      })}
      {countFilters(filters) + (filters.q === undefined ? 0 : 1) === 0 ? null : (
        <Button
          size="xs"
          variant="subtle"
          leftSection={<Cross2Icon aria-hidden="true" />}
          onClick={() => onChange(Object.fromEntries(Object.keys(filters).map((name) => [name, null])))}
        >
          Clear
        </Button>
      )}
      <Group gap="xs" ml="auto">
        <Select
          size="xs"
          w={180}
          aria-label="Sort"
          data={sorts.map((sort) => ({ ...sort }))}
          value={filters.sort ?? 'name'}
          allowDeselect={false}
          onChange={(sort) => onChange({ sort: sort === 'name' ? null : sort })}
        />
        {children}
      </Group>
    </Group>
  );
}

interface TagModeProps {
  readonly isAll: boolean;
  readonly tags: readonly string[];
  readonly onChange: (tags: readonly string[], isAll: boolean) => void;
}

/** Remembers the choice while no tag is chosen, because the URL cannot. */
function TagMode({ isAll, tags, onChange }: TagModeProps) {
  return (
    <SegmentedControl
      size="xs"
      aria-label="How many of the tags"
      disabled={tags.length === 0}
      data={[
        { value: 'any', label: 'Any of them' },
        { value: 'all', label: 'All of them' },
      ]}
      value={isAll ? 'all' : 'any'}
      onChange={(mode) => onChange(tags, mode === 'all')}
    />
  );
}

interface RangeProps {
  readonly label: string;
  readonly unit: string;
  readonly names: readonly ['minPrice' | 'minAge', 'maxPrice' | 'maxAge'];
  readonly filters: CheeseFilters;
  readonly onChange: SetFilters;
}

function Range({ label, unit, names, filters, onChange }: RangeProps) {
  const [low, high] = [filters[names[0]], filters[names[1]]];
  const isSet = low !== undefined || high !== undefined;
  return (
    <FilterFrame label={label} chosen={isSet ? `${low ?? 0} to ${high ?? 'any'}` : null}>
      <Group gap="xs" wrap="nowrap">
        <Bound label={`From (${unit})`} value={low} onChange={(value) => onChange({ [names[0]]: value })} />
        <Bound label={`To (${unit})`} value={high} onChange={(value) => onChange({ [names[1]]: value })} />
      </Group>
    </FilterFrame>
  );
}

interface BoundProps {
  readonly label: string;
  readonly value: number | undefined;
  readonly onChange: (value: string | null) => void;
}

function Bound({ label, value, onChange }: BoundProps) {
  const rules = label.includes('months') ? monthRules : priceRules;
  const [written, setWritten] = useState(writeNumber(value));
  const change = useDebouncedCallback((text: string) => {
    const read = readNumber(text, rules);
    if (read.problem === null) {
      onChange(read.value === null ? null : String(read.value));
    }
  }, 300);
  useEffect(() => {
    // What is being written may be the same number in other words.
    setWritten((text) => (readNumber(text, rules).value === (value ?? null) ? text : writeNumber(value)));
  }, [value, rules]);
  return (
    <NumberField
      size="xs"
      w={130}
      label={label}
      rules={rules}
      value={written}
      onChange={(next) => {
        setWritten(next);
        change(next);
      }}
    />
  );
}

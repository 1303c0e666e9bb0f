/** The fields of a cheese. Categories, tags and countries complete while somebody types. */
import {
  Autocomplete,
  Group,
  SegmentedControl,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useId, useState } from 'react';
import { useApi } from '../../../data/queries.ts';
import { monthRules } from '../../../parts/fields/number.ts';
import { NumberField } from '../../../parts/fields/number-field.tsx';
import { currencySymbol } from '../../../parts/text/format.ts';
import { fieldViews, flagFields } from '../fields.ts';
import { type CheeseStatus, statuses } from '../list/filters.ts';
import { type FormValues, pricePerKgRules } from './form-values.ts';
import { Portions } from './portions.tsx';

interface Props {
  readonly values: FormValues;
  /** Sentences of the server by field. */
  readonly errors: Readonly<Record<string, string>>;
  readonly onChange: (changes: Partial<FormValues>) => void;
  readonly isReadOnly: boolean;
  /** The name has the focus. */
  readonly isNew?: boolean;
}

const typingMs = 150;
const offered = 20;

export function CheeseForm({ values, errors, onChange, isReadOnly, isNew = false }: Props) {
  const statusLabel = useId();
  const [tagText, setTagText] = useState('');
  const categories = useNames('categories', values.category);
  const tags = useNames('tags', tagText);
  const { data: origins = [] } = useApi(['cheeses', 'origins'], async (curd, signal) => {
    const list = await curd.cheeses.list({ facets: ['origin'], limit: 1 }, { signal });
    return 'facets' in list ? (list.facets.origin?.values.map(({ value }) => value) ?? []) : [];
  });
  return (
    <fieldset disabled={isReadOnly} className="form">
      <Stack gap="sm">
        <TextInput
          label="Name"
          autoFocus={isNew}
          required
          maxLength={255}
          value={values.name}
          error={errors.name}
          onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
        />
        <Group grow align="start">
          <Autocomplete
            label="Category"
            maxLength={100}
            data={categories}
            value={values.category}
            error={errors.category}
            onChange={(category) => onChange({ category })}
          />
          <Autocomplete
            label="Origin"
            maxLength={100}
            limit={offered}
            data={[...origins]}
            value={values.origin}
            error={errors.origin}
            onChange={(origin) => onChange({ origin })}
          />
        </Group>
        <TagsInput
          label="Tags"
          description="Enter adds a tag"
          maxTags={100}
          data={tags.filter((name) => !values.tags.includes(name))}
          value={[...values.tags]}
          error={errors.tags}
          searchValue={tagText}
          onSearchChange={setTagText}
          onChange={(next) => onChange({ tags: next })}
          splitChars={[',']}
        />
        <div>
          <Text id={statusLabel} size="sm" fw={600} mb={4}>
            Status
          </Text>
          <SegmentedControl
            aria-labelledby={statusLabel}
            data={[...statuses]}
            value={values.status}
            onChange={(status) => onChange({ status: status as CheeseStatus })}
          />
        </div>
        <Group grow align="start">
          <NumberField
            label={`Price per kg (${currencySymbol})`}
            rules={pricePerKgRules}
            value={values.pricePerKg}
            error={errors.pricePerKg}
            onChange={(pricePerKg) => onChange({ pricePerKg })}
          />
          <NumberField
            label="Age (months)"
            rules={monthRules}
            value={values.ageMonths}
            error={errors.ageMonths}
            onChange={(ageMonths) => onChange({ ageMonths })}
          />
        </Group>
        <Portions values={values} errors={errors} onChange={onChange} />
        {flagFields.map((field) => (
          <Switch
            key={field}
            label={fieldViews[field].switchLabel}
            checked={values[field] === true}
            onChange={({ currentTarget }) => onChange({ [field]: currentTarget.checked })}
          />
        ))}
      </Stack>
    </fieldset>
  );
}

/** Names that begin with a text. */
function useNames(kind: 'categories' | 'tags', text: string): string[] {
  const [q] = useDebouncedValue(text.trim().slice(0, 100), typingMs);
  const { data } = useApi(['cheeses', kind, q], async (curd, signal) => {
    const filters = { limit: offered, empty: true, ...(q === '' ? {} : { q }) } as const;
    const { items } = await curd[kind].list(filters, { signal });
    return items.map(({ name }) => name);
  });
  return data ?? [];
}

/** The fields of a new key that only one kind has. */
import { Checkbox, InputBase, MultiSelect, SimpleGrid, Stack } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useApi } from '../../data/queries.ts';
import { NumberField } from '../../parts/fields/number-field.tsx';
import { currencySymbol } from '../../parts/text/format.ts';
import { budgetRules, type KeyDraft, type KeyKind, type NewKeyScope, orderRules } from './key-draft.ts';

/** Scopes that change what a key of the kind can do. */
const scopesOf: Readonly<Record<KeyKind, readonly (readonly [NewKeyScope, string])[]>> = {
  secret: [
    [
      'read:cheeses',
      'Use two older lists of cheeses, by status and by tags. Nothing else that reads needs it',
    ],
    ['write:cheeses', 'Change cheeses, images and stock'],
    ['write:orders', 'Place and cancel orders for customers'],
  ],
  publishable: [['write:orders', 'Order for customers who are logged in']],
  restricted: [
    ['read:cheeses', 'Read the catalogue and the inventory'],
    ['write:cheeses', 'Change cheeses and stock'],
    ['read:orders', 'Read the orders that it placed'],
    ['write:orders', 'Order within its limits, and cancel its orders'],
  ],
};

interface Props {
  readonly draft: KeyDraft;
  readonly errors: Readonly<Record<string, string>>;
  readonly onChange: (changes: Partial<KeyDraft>) => void;
}

/** The message for a list, or for one of its items. */
const errorOf = (errors: Props['errors'], name: string) =>
  Object.entries(errors).find(([field]) => field === name || field.startsWith(`${name}[`))?.[1];

export function ScopeBoxes({
  draft,
  onChange,
  isDisabled = false,
}: Props & { readonly isDisabled?: boolean }) {
  return (
    <Checkbox.Group value={[...draft.scopes]} onChange={(scopes) => onChange({ scopes })} aria-label="Scopes">
      <Stack gap={6} ml={draft.kind === 'secret' ? 'xl' : 0}>
        {scopesOf[draft.kind].map(([scope, text]) => (
          <Checkbox key={scope} value={scope} label={text} disabled={isDisabled} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}

interface LinesProps {
  readonly label: string;
  readonly description: string;
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (value: string) => void;
}

function Lines({ onChange, ...others }: LinesProps) {
  return (
    <InputBase
      component="textarea"
      multiline
      rows={2}
      {...others}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

export function PublishableFields(props: Props) {
  const { draft, errors, onChange } = props;
  return (
    <>
      <ScopeBoxes {...props} />
      <Lines
        label="Origins"
        description="Of the pages that may use it, such as https://shop.example, one in each line. Without one, any page may"
        value={draft.origins}
        error={errorOf(errors, 'origins')}
        onChange={(origins) => onChange({ origins })}
      />
    </>
  );
}

export function RestrictedFields(props: Props) {
  const { draft, errors, onChange } = props;
  return (
    <>
      <ScopeBoxes {...props} />
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="xs">
        <NumberField
          label={`Sum a day (${currencySymbol})`}
          rules={budgetRules}
          value={draft.dollarsPerDay}
          error={errors.dollarsPerDay}
          onChange={(dollarsPerDay) => onChange({ dollarsPerDay })}
        />
        <NumberField
          label={`Sum an order (${currencySymbol})`}
          rules={budgetRules}
          value={draft.dollarsPerOrder}
          error={errors.dollarsPerOrder}
          onChange={(dollarsPerOrder) => onChange({ dollarsPerOrder })}
        />
        <NumberField
          label="Orders a day"
          rules={orderRules}
          value={draft.ordersPerDay}
          error={errors.ordersPerDay}
          onChange={(ordersPerDay) => onChange({ ordersPerDay })}
        />
      </SimpleGrid>
      <CategoryField {...props} />
      <Lines
        label="Cheeses"
        description="Their ids. Without one, all cheeses"
        value={draft.cheeseIds}
        error={errorOf(errors, 'cheeseIds')}
        onChange={(cheeseIds) => onChange({ cheeseIds })}
      />
      <Lines
        label="Networks"
        description="From which it is accepted, such as 203.0.113.0/24. Without one, all networks"
        value={draft.addresses}
        error={errorOf(errors, 'addresses')}
        onChange={(addresses) => onChange({ addresses })}
      />
    </>
  );
}

/** Categories are found by the beginning of their names. */
function CategoryField({ draft: { categories }, errors, onChange }: Props) {
  const [text, setText] = useState('');
  const [q] = useDebouncedValue(text.trim().slice(0, 100), 200);
  const { data } = useApi(['cheeses', 'categories', q, 'of a key'], async (curd, signal) => {
    const filters = { limit: 20, ...(q === '' ? {} : { q }) };
    return (await curd.categories.list(filters, { signal })).items.map(({ name }) => name);
  });
  return (
    <MultiSelect
      label="Categories"
      description="Whose cheeses it may order and change. Without one, all categories"
      data={[...new Set([...(data ?? []), ...categories])]}
      searchable
      filter={({ options }) => options}
      value={[...categories]}
      error={errorOf(errors, 'categories')}
      onSearchChange={setText}
      onChange={(chosen) => onChange({ categories: chosen })}
    />
  );
}

/** The fields of a discount code. Its code and kind cannot change later. */
import { Checkbox, Group, Radio, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { priceRules } from '../../parts/fields/number.ts';
import { NumberField } from '../../parts/fields/number-field.tsx';
import { TimeField } from '../../parts/fields/time-field.tsx';
import type { ResourceForm } from '../../parts/forms/resource-page.tsx';
import { currencySymbol } from '../../parts/text/format.ts';
import {
  chooseValueRules,
  type Discount,
  type DiscountValues,
  describeDiscountExample,
  discountLabels,
  usesRules,
} from './discount-values.ts';

const kinds = [
  { value: 'percent', label: 'Percent off' },
  { value: 'amount', label: 'Amount off' },
  { value: 'free_delivery', label: 'Free delivery' },
];

export function DiscountForm({ values, edit, errors, entity }: ResourceForm<Discount, DiscountValues>) {
  const isNew = entity === null;
  return (
    <section className="card" aria-label="Code">
      <Stack gap="sm">
        <TextInput
          label={discountLabels.code}
          description={
            isNew
              ? 'Letters, digits and hyphens. It cannot change later'
              : `${kinds.find(({ value }) => value === values.kind)?.label}. Code and kind cannot change`
          }
          placeholder="SPRING"
          required={isNew}
          readOnly={!isNew}
          autoFocus={isNew}
          maxLength={40}
          value={values.code}
          error={errors.code}
          onChange={({ currentTarget }) => edit({ code: currentTarget.value.toUpperCase() })}
        />
        {isNew ? (
          <Radio.Group
            aria-label={discountLabels.kind}
            value={values.kind}
            onChange={(kind) => edit({ kind: kind as DiscountValues['kind'], value: '' })}
          >
            <Group gap="lg">
              {kinds.map((kind) => (
                <Radio key={kind.value} {...kind} />
              ))}
            </Group>
          </Radio.Group>
        ) : null}
        <SimpleGrid cols={2} spacing="sm">
          {values.kind === 'free_delivery' ? null : (
            <NumberField
              label={values.kind === 'percent' ? 'Percent' : `Amount (${currencySymbol})`}
              description="Of the cheeses"
              placeholder="10"
              required
              rules={chooseValueRules(values.kind)}
              value={values.value}
              error={errors.value}
              onChange={(value) => edit({ value })}
            />
          )}
          <NumberField
            label={`${discountLabels.from} (${currencySymbol})`}
            description="Least sum. Empty: any"
            rules={priceRules}
            value={values.from}
            error={errors.from}
            onChange={(from) => edit({ from })}
          />
          <NumberField
            label={discountLabels.usesMax}
            description="Empty: any number"
            rules={usesRules}
            value={values.usesMax}
            error={errors.usesMax}
            onChange={(usesMax) => edit({ usesMax })}
          />
          <NumberField
            label={discountLabels.usesPerCustomer}
            description="Empty: any number"
            rules={usesRules}
            value={values.usesPerCustomer}
            error={errors.usesPerCustomer}
            onChange={(usesPerCustomer) => edit({ usesPerCustomer })}
          />
        </SimpleGrid>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <TimeField
            label={discountLabels.startsAt}
            time={values.startsAt}
            onChange={(startsAt) => edit({ startsAt })}
          />
          <TimeField
            label={discountLabels.endsAt}
            time={values.endsAt}
            onChange={(endsAt) => edit({ endsAt })}
          />
        </SimpleGrid>
        <Text size="xs" c={errors.endsAt === undefined ? 'dimmed' : 'red'}>
          {errors.endsAt === undefined
            ? 'In the time zone of this browser. Empty: at once, and without an end.'
            : 'It must end after it begins.'}
        </Text>
        <Checkbox
          label={discountLabels.isEnabled}
          checked={values.isEnabled}
          onChange={({ currentTarget }) => edit({ isEnabled: currentTarget.checked })}
        />
      </Stack>
    </section>
  );
}

export function DiscountExample({ values }: { readonly values: DiscountValues }) {
  return (
    <section className="card" aria-label="Example">
      <Title order={2} size="h5" mb="xs">
        Example
      </Title>
      <Text size="sm">{describeDiscountExample(values)}</Text>
      <Text size="xs" c="dimmed" mt="xs">
        An order has one code. A cancelled order gives its use back.
      </Text>
    </section>
  );
}

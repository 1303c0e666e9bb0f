/** The fields of a tax rate. Where it applies cannot change later. */
import { Alert, NativeSelect, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { useApi } from '../../data/queries.ts';
import { CountrySelect } from '../../parts/fields/country-select.tsx';
import { readNumber } from '../../parts/fields/number.ts';
import { NumberField } from '../../parts/fields/number-field.tsx';
import type { ResourceForm } from '../../parts/forms/resource-page.tsx';
import { showMoney, showNumber } from '../../parts/text/format.ts';
import { ruleLabels, type TaxMode, useRules } from '../shop/shop-rules.ts';
import { describeRatePlace, percentRules, type Rate, type RateValues, rateLabels } from './rate-values.ts';

type Props = ResourceForm<Rate, RateValues>;

const categoriesMax = 100;

export function RateForm(form: Props) {
  const { values, edit, errors, entity } = form;
  return (
    <section className="card" aria-label="Rate">
      <Stack gap="sm">
        <SimpleGrid cols={2} spacing="sm">
          <TextInput
            label={rateLabels.name}
            description="As receipts print it"
            placeholder="VAT"
            required
            maxLength={60}
            value={values.name}
            error={errors.name}
            onChange={({ currentTarget }) => edit({ name: currentTarget.value })}
          />
          <NumberField
            label={rateLabels.percent}
            description="0 for exempt"
            placeholder="8.1"
            required
            rules={percentRules}
            rightSection={<Text size="xs">%</Text>}
            value={values.percent}
            error={errors.percent}
            onChange={(percent) => edit({ percent })}
          />
        </SimpleGrid>
        {entity === null ? (
          <Where {...form} />
        ) : (
          <Text size="sm">
            Applies to: {describeRatePlace(values)}, {values.category || 'all categories'}. This cannot
            change: delete the rate and create another one.
          </Text>
        )}
      </Stack>
    </section>
  );
}

function Where({ values, edit, errors }: Props) {
  const { data: categories = [] } = useApi(['cheeses', 'categories of rates'], async (curd, signal) => {
    const { items } = await curd.categories.list({ limit: categoriesMax }, { signal });
    return items.map(({ name }) => name);
  });
  const hasCountry = values.country !== '';
  return (
    <>
      <CountrySelect
        size="sm"
        label={rateLabels.country}
        value={hasCountry ? values.country : null}
        error={errors.country}
        onChange={(country) =>
          edit(country === null ? { country: '', state: '', zipPrefix: '' } : { country })
        }
      />
      {hasCountry ? (
        <SimpleGrid cols={2} spacing="sm">
          <TextInput
            label={rateLabels.state}
            description="Empty: all of the country"
            maxLength={100}
            value={values.state}
            error={errors.state}
            onChange={({ currentTarget }) => edit({ state: currentTarget.value })}
          />
          <TextInput
            label={rateLabels.zipPrefix}
            description="Empty: all"
            maxLength={12}
            value={values.zipPrefix}
            error={errors.zipPrefix}
            onChange={({ currentTarget }) => edit({ zipPrefix: currentTarget.value })}
          />
        </SimpleGrid>
      ) : (
        <Text size="xs" c="dimmed">
          Without a country, the rate is for every country that has none.
        </Text>
      )}
      <NativeSelect
        label={rateLabels.category}
        data={[{ value: '', label: 'All cheeses' }, ...categories]}
        value={values.category}
        error={errors.category}
        onChange={({ currentTarget }) => edit({ category: currentTarget.value })}
      />
      {values.category.trim() === '' ? null : (
        <Alert color="yellow" variant="light" p="xs">
          A rate for a category counts before every rate of a place: {values.category.trim()} is taxed by this
          rate in {hasCountry ? describeRatePlace(values) : 'every country'}, also where a state or a zip code
          has a rate.
        </Alert>
      )}
    </>
  );
}

const sampleAmount = 100;

/** What a customer pays at this rate, by the rule. */
export function RateExample({ values }: { readonly values: RateValues }) {
  const mode: TaxMode = useRules().data?.shop.tax.mode ?? 'off';
  const percent = readNumber(values.percent, percentRules).value;
  return (
    <section className="card" aria-label="Example">
      <Title order={2} size="h5" mb="xs">
        Example
      </Title>
      <Text size="sm">
        {percent === null ? 'Write the percentage.' : exampleOfRate(percent, values, mode)}
      </Text>
    </section>
  );
}

function exampleOfRate(percent: number, values: RateValues, mode: TaxMode): string {
  const { name } = values;
  const cents = (amount: number) => showMoney(Math.round(amount * 100) / 100);
  const tax = `${name.trim() || 'tax'} (${showNumber(percent)} %)`;
  const goods = `${values.category.trim() || 'Cheese'} for ${showMoney(sampleAmount)}, ${describeRatePlace(values)}`;
  switch (mode) {
    case 'included':
      return `${goods}: the customer pays ${showMoney(sampleAmount)}, of which ${cents((sampleAmount * percent) / (100 + percent))} is ${tax}.`;
    case 'added':
      return `${goods}: the customer pays ${cents(sampleAmount + (sampleAmount * percent) / 100)}, with ${cents((sampleAmount * percent) / 100)} of ${tax}.`;
    case 'off':
      return `${ruleLabels.taxMode} are off: the rate has no effect until you turn them on.`;
  }
}

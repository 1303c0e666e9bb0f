/** Taxes: whether the shop computes them, and the rates by place and category. */
import { Alert, Anchor, Button, Group, Radio, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { useCurd } from '../../data/queries.ts';
import { Conflict } from '../../parts/dialogs/conflict.tsx';
import { ResourcePage } from '../../parts/forms/resource-page.tsx';
import { SaveButtons } from '../../parts/forms/save-buttons.tsx';
import { ListScreen } from '../../parts/list-screen.tsx';
import { Empty, Read } from '../../parts/page.tsx';
import { TryOrder } from '../../parts/prices/try-order.tsx';
import type { ScreenProps } from '../../parts/screen.ts';
import { ColumnsButton } from '../../parts/tables/columns-button.tsx';
import { usePages } from '../../parts/tables/pages.ts';
import type { Column } from '../../parts/tables/table-row.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { toMessage } from '../../session/session.ts';
import { type TaxMode, useRules, useRulesForm } from '../shop/shop-rules.ts';
import { RateExample, RateForm } from './rate-form.tsx';
import {
  describeRatePlace,
  findRateProblem,
  type Rate,
  type RateValues,
  rateLabels,
  toRateBody,
  toRateValues,
} from './rate-values.ts';
import { UntaxedCountries } from './untaxed.tsx';

const resource = {
  what: 'tax rate',
  list: { path: 'taxes', title: 'Taxes' },
  kind: 'tax_rate',
  nameOf: (rate: Rate) => `${rate.name} ${showNumber(rate.percent)} %`,
  get: (curd, id) => curd.taxRates.get(Number(id)),
  create: (curd, values) => curd.taxRates.create(toRateBody(values)),
  patch: (curd, { id }, _, values, options) => {
    const { percent, name } = toRateBody(values);
    return curd.taxRates.patch(id, { percent, name }, options);
  },
  delete: (curd, { id }) => curd.taxRates.delete(id),
  valuesOf: toRateValues,
  problemOf: findRateProblem,
  labels: rateLabels,
} satisfies Parameters<typeof ResourcePage<Rate, RateValues>>[0]['resource'];

export default function Taxes({ id }: ScreenProps) {
  return id === undefined ? (
    <Rates />
  ) : (
    <ResourcePage<Rate, RateValues>
      resource={resource}
      id={id}
      aside={({ values }) => <RateExample values={values} />}
    >
      {(form) => <RateForm {...form} />}
    </ResourcePage>
  );
}

const columns: readonly Column<Rate>[] = [
  {
    title: 'Rate',
    show: (rate) => (
      <Anchor component={Link} href={`/taxes/${rate.id}`} size="sm" className="row-name">
        {resource.nameOf(rate)}
      </Anchor>
    ),
  },
  { title: 'Where', show: (rate) => describeRatePlace(toRateValues(rate)) },
  { title: 'Cheeses', show: ({ category }) => category ?? 'all' },
];

function Rates() {
  const curd = useCurd();
  const rules = useRules();
  const list = usePages({
    key: ['taxes'],
    read: ({ cursor, limit, signal }) => curd.taxRates.list({ cursor, limit }, { signal }),
    idOf: ({ id }) => id,
  });
  const isOff = rules.data?.shop.tax.mode === 'off';
  return (
    <ListScreen
      title="Taxes"
      what="tax rates"
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      nameOf={resource.nameOf}
      actions={
        <>
          <ColumnsButton list="Taxes" columns={columns} />
          <Button size="xs" component={Link} href="/taxes/new">
            New tax rate
          </Button>
        </>
      }
      filters={
        <>
          <UntaxedCountries />
          <Read of={rules} what="the rules">
            {(server) => <Mode server={server} />}
          </Read>
          <Title order={2} size="h5" mb="xs">
            Rates
          </Title>
          <Text size="sm" c="dimmed" mb="sm">
            The closest rate counts: of a category before a zip code, a zip code before a state, a state
            before a country. {isOff ? 'While taxes are off, no rate has an effect.' : ''}
          </Text>
        </>
      }
      empty={
        <Empty title="No tax rates yet">
          Create one for each country that you deliver to. Where no rate applies, the tax is 0.
        </Empty>
      }
    >
      {isOff || list.rows.length === 0 ? null : (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" mt="lg" style={{ alignItems: 'start' }}>
          <TryOrder />
        </SimpleGrid>
      )}
    </ListScreen>
  );
}

const modes: Readonly<Record<TaxMode, { readonly label: string; readonly description: string }>> = {
  off: { label: 'Off', description: 'The shop computes no taxes, and orders show none.' },
  included: {
    label: 'Included in prices',
    description: 'Customers pay the price that they see. Orders show how much of it is tax.',
  },
  added: {
    label: 'Added to prices',
    description: 'Prices are without tax. Each order adds it, by the place that it goes to.',
  },
};

function Mode({ server }: { readonly server: Parameters<typeof useRulesForm>[0] }) {
  const form = useRulesForm(server);
  return (
    <section className="card" aria-label="How taxes are computed" style={{ marginBottom: 16 }}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          How taxes are computed
        </Title>
        <Group gap="xs">
          <SaveButtons
            isChanged={form.isChanged}
            isSaving={form.isSaving}
            onSave={form.save}
            onDiscard={form.discard}
          />
        </Group>
      </Group>
      {form.failure === null ? null : (
        <Alert color="red" variant="light" title="It was not saved" role="alert" mb="sm">
          {toMessage(form.failure)}
        </Alert>
      )}
      <Radio.Group
        aria-label="How taxes are computed"
        value={form.values.taxMode}
        onChange={(mode) => form.edit({ taxMode: mode as TaxMode })}
      >
        <Stack gap="xs">
          {Object.entries(modes).map(([mode, texts]) => (
            <Radio key={mode} value={mode} {...texts} />
          ))}
        </Stack>
      </Radio.Group>
      {form.conflict === null ? null : (
        <Conflict
          title="How taxes are computed"
          {...form.conflict}
          nameOf={() => 'Taxes'}
          show={(mode) => modes[mode as TaxMode].label}
        />
      )}
    </section>
  );
}

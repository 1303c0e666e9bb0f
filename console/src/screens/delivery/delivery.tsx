/** How goods reach customers: the methods, their charges and days, and the rules for all orders. */
import { Alert, Anchor, Button, Group, List, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { useCurd, useList } from '../../data/queries.ts';
import { invalidate } from '../../parts/action.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { ResourcePage } from '../../parts/forms/resource-page.tsx';
import { ListScreen } from '../../parts/list-screen.tsx';
import { Empty, Read } from '../../parts/page.tsx';
import { TryOrder } from '../../parts/prices/try-order.tsx';
import type { ScreenProps } from '../../parts/screen.ts';
import type { Column } from '../../parts/tables/table-row.tsx';
import { readRules, toShopRules, useRules, useRulesForm } from '../shop/shop-rules.ts';
import { UntaxedCountries } from '../taxes/untaxed.tsx';
import { MethodForm } from './method-form.tsx';
import {
  describeCharges,
  describeDays,
  describePlaces,
  exampleCharges,
  findMethodProblem,
  type Method,
  type MethodValues,
  methodLabels,
  showMethodValue,
  toMethodBody,
  toMethodPatch,
  toMethodValues,
} from './method-values.ts';
import { RulesCard } from './rules-card.tsx';

const resource = {
  what: 'delivery method',
  list: { path: 'delivery', title: 'Delivery' },
  kind: 'delivery_method',
  nameOf: ({ name }: Method) => name,
  get: (curd, id) => curd.deliveryMethods.get(Number(id)),
  create: (curd, values) => curd.deliveryMethods.create(toMethodBody(values)),
  patch: (curd, { id }, changes, values, options) =>
    curd.deliveryMethods.patch(id, toMethodPatch(changes, values), options),
  delete: (curd, { id }) => curd.deliveryMethods.delete(id),
  valuesOf: toMethodValues,
  problemOf: findMethodProblem,
  labels: methodLabels,
  show: showMethodValue,
} satisfies Parameters<typeof ResourcePage<Method, MethodValues>>[0]['resource'];

export default function Delivery({ id }: ScreenProps) {
  const curd = useCurd();
  const [isOffering, setOffering] = useState(false);

  /** The first method: orders need one from now on, if the owner agrees. */
  async function offerToRequire(): Promise<void> {
    const [methods, rules] = await Promise.all([curd.deliveryMethods.list(), readRules(curd)]);
    setOffering(methods.items.length === 1 && !toShopRules(rules).required);
  }

  return (
    <>
      {id === undefined ? (
        <Methods />
      ) : (
        <ResourcePage<Method, MethodValues>
          resource={resource}
          id={id}
          onCreated={() => void offerToRequire()}
          aside={({ values }) => <MethodExample values={values} />}
        >
          {(form) => <MethodForm {...form} />}
        </ResourcePage>
      )}
      {isOffering ? (
        <Confirm
          title="Shall every order have a delivery?"
          action="Yes, every order"
          dismiss="Not now"
          isHarmless
          text="Then an order that names no method gets the cheapest parcel that serves it, and an order to a place that no method serves is refused. You can change this under Rules."
          onConfirm={async () => {
            await curd.shop.patch({ delivery: { required: true } });
            await invalidate('shop', 'quote');
          }}
          onClose={() => setOffering(false)}
        />
      ) : null}
    </>
  );
}

const columns: readonly Column<Method>[] = [
  {
    title: 'Method',
    show: ({ id, name, kind, isEnabled }) => (
      <Stack gap={0}>
        <Anchor component={Link} href={`/delivery/${id}`} size="sm" className="row-name">
          {name}
        </Anchor>
        <Text size="xs" c="dimmed">
          {[kind === 'pickup' ? 'pickup' : null, isEnabled ? null : 'off: customers cannot choose it']
            .filter((text) => text !== null)
            .join(', ')}
        </Text>
      </Stack>
    ),
  },
  {
    title: 'Where',
    show: (method) => (method.kind === 'pickup' ? 'In the shop' : describePlaces(toMethodValues(method))),
  },
  { title: 'Charges', show: describeCharges },
  { title: 'Days', show: (method) => describeDays(toMethodValues(method)) },
];

function Methods() {
  const list = useList(['delivery'], (curd) => curd.deliveryMethods.list());
  const rules = useRules();
  const enabled = list.rows.filter(({ isEnabled }) => isEnabled);
  const isRequired = list.data !== undefined && rules.data?.shop.delivery.required === true;
  return (
    <ListScreen
      title="Delivery"
      what="delivery methods"
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      actions={
        <Button size="xs" component={Link} href="/delivery/new">
          New delivery method
        </Button>
      }
      filters={
        <>
          {isRequired && enabled.length === 0 ? (
            <Alert color="red" variant="light" mb="md" title="Nobody can order" role="alert">
              Every order must have a delivery, and customers can choose no method. Create a method or turn
              one on, or turn off “Every order has a delivery” below.
            </Alert>
          ) : null}
          {isRequired && enabled.length > 0 && enabled.every(({ kind }) => kind === 'pickup') ? (
            <Alert color="yellow" variant="light" mb="md" title="Only pickups">
              Every order must have a delivery, and no parcel can be chosen. An order that does not name the
              pickup is refused.
            </Alert>
          ) : null}
          <UntaxedCountries />
        </>
      }
      empty={
        <Empty title="No delivery methods yet">
          Orders cost no delivery, and you arrange it with each customer. Create a method for what parcels
          cost, and for the days on which they leave.
        </Empty>
      }
    >
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" mt="lg" style={{ alignItems: 'start' }}>
        <Read of={rules} what="the rules">
          {(server) => <Rules server={server} />}
        </Read>
        {list.rows.length === 0 ? null : <TryOrder />}
      </SimpleGrid>
    </ListScreen>
  );
}

function Rules({ server }: { readonly server: Parameters<typeof useRulesForm>[0] }) {
  return <RulesCard form={useRulesForm(server)} />;
}

/** What the values that are being written mean to a customer. */
function MethodExample({ values }: { readonly values: MethodValues }) {
  const { data } = useRules();
  const lines = exampleCharges(values, data?.settings.delivery.packagingGrams ?? 0);
  return (
    <section className="card" aria-label="Example">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          What customers get
        </Title>
      </Group>
      <Stack gap="xs">
        <Text size="sm">To: {describePlaces(values)}</Text>
        <List size="sm">
          {lines.map((line) => (
            <List.Item key={line}>{line}</List.Item>
          ))}
        </List>
        <Text size="sm">{describeDays(values)}</Text>
        <Text size="xs" c="dimmed">
          With {data?.settings.delivery.packagingGrams ?? 0} g of packaging, which is under Rules.
        </Text>
      </Stack>
    </section>
  );
}

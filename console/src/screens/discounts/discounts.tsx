/** Discount codes: what each takes off, when, and how often it was used. */
import { Anchor, Badge, Button } from '@mantine/core';
import { Link } from 'wouter';
import { useCurd } from '../../data/queries.ts';
import { ResourcePage } from '../../parts/forms/resource-page.tsx';
import { ListScreen } from '../../parts/list-screen.tsx';
import { Empty } from '../../parts/page.tsx';
import { TryOrder } from '../../parts/prices/try-order.tsx';
import type { ScreenProps } from '../../parts/screen.ts';
import { ColumnsButton } from '../../parts/tables/columns-button.tsx';
import { usePages } from '../../parts/tables/pages.ts';
import type { Column } from '../../parts/tables/table-row.tsx';
import { DiscountExample, DiscountForm } from './discount-form.tsx';
import {
  type Discount,
  type DiscountValues,
  describeDiscount,
  describeState,
  describeUses,
  discountLabels,
  findDiscountProblem,
  toDiscountBody,
  toDiscountPatch,
  toDiscountValues,
} from './discount-values.ts';

const resource = {
  what: 'discount code',
  list: { path: 'discounts', title: 'Discounts' },
  kind: 'discount',
  nameOf: ({ code }: Discount) => code,
  get: (curd, code) => curd.discounts.get(code),
  create: (curd, values) => curd.discounts.create(toDiscountBody(values)),
  patch: (curd, { code }, changes, values, options) =>
    curd.discounts.patch(code, toDiscountPatch(changes, values), options),
  delete: (curd, { code }) => curd.discounts.delete(code),
  valuesOf: toDiscountValues,
  problemOf: findDiscountProblem,
  labels: discountLabels,
} satisfies Parameters<typeof ResourcePage<Discount, DiscountValues>>[0]['resource'];

export default function Discounts({ id }: ScreenProps) {
  return id === undefined ? (
    <Codes />
  ) : (
    <ResourcePage<Discount, DiscountValues>
      resource={resource}
      id={id}
      aside={({ values, entity }) => (
        <>
          <DiscountExample values={values} />
          {entity === null ? null : <TryOrder key={entity.code} code={entity.code} />}
        </>
      )}
    >
      {(form) => <DiscountForm {...form} />}
    </ResourcePage>
  );
}

const columns: readonly Column<Discount>[] = [
  {
    title: 'Code',
    show: ({ code }) => (
      <Anchor component={Link} href={`/discounts/${code}`} size="sm" className="row-name">
        {code}
      </Anchor>
    ),
  },
  { title: 'Takes off', show: (discount) => describeDiscount(toDiscountValues(discount)) },
  {
    title: 'State',
    show: (discount) => {
      const state = describeState(discount);
      return (
        <Badge variant="dot" tt="none" color={state.startsWith('on') ? 'green' : 'gray'}>
          {state}
        </Badge>
      );
    },
  },
  { title: 'Uses', show: describeUses },
];

function Codes() {
  const curd = useCurd();
  const list = usePages({
    key: ['discounts'],
    read: ({ cursor, limit, signal }) => curd.discounts.list({ cursor, limit }, { signal }),
    idOf: ({ code }) => code,
  });
  return (
    <ListScreen
      title="Discounts"
      what="discount codes"
      list={list}
      columns={columns}
      keyOf={({ code }) => code}
      nameOf={({ code }) => code}
      actions={
        <>
          <ColumnsButton list="Discounts" columns={columns} />
          <Button size="xs" component={Link} href="/discounts/new">
            New discount code
          </Button>
        </>
      }
      empty={
        <Empty title="No discount codes yet">
          Customers write a code in their order, and pay less. Create one with a percentage, an amount, or
          free delivery.
        </Empty>
      }
    />
  );
}

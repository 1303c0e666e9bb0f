/** Sales: any range of days, compared with the one before it. */
import '../home/home.css';
import { Anchor, Group, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { lazy, Suspense, useMemo } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useApi } from '../../data/queries.ts';
import { Figure } from '../../parts/figure.tsx';
import { useFreshFigures } from '../../parts/fresh-figures.ts';
import { Empty, PageTitle, Read } from '../../parts/page.tsx';
import { CsvButton } from '../../parts/tables/csv-button.tsx';
import { countryName } from '../../parts/text/countries.ts';
import {
  currencyName,
  showDay,
  showKilograms,
  showMoney,
  showNumber,
  showShortMoney,
  showShortNumber,
} from '../../parts/text/format.ts';
import { PartsTable } from './parts-table.tsx';
import { addDays, chosenIn, type Range, rangeBefore, showChange, toRange } from './range.ts';
import { RangeFields } from './range-fields.tsx';
import { readSales, type SalesOfRange } from './read-sales.ts';

const Chart = lazy(async () => ({ default: (await import('../../parts/chart.tsx')).Chart }));
const chartHeight = 300;
const customerNames: Readonly<Record<string, string>> = {
  new: 'New customers',
  returning: 'Returning customers',
  none: 'Without a customer',
};

const showOrders = (count: number) => `${showNumber(count)} ${count === 1 ? 'order' : 'orders'}`;
/** The day in UTC, as text of the local zone: days are not shifted. */
const localDay = (time: string) => `${time.slice(0, 10)}T00:00:00`;
const showDays = ({ from, to }: Range) =>
  `${showDay(localDay(from))} – ${showDay(localDay(addDays(to, -1)))}`;

function Sums({ sum, sumBefore }: Pick<SalesOfRange, 'sum' | 'sumBefore'>) {
  const average = ({ value, orders }: SalesOfRange['sum']) => (orders === 0 ? 0 : value / orders);
  const noteOf = (now: number, before: number, show: (value: number) => string) =>
    [showChange(now, before), `before: ${show(before)}`].filter((text) => text !== '').join(', ');
  const figures = [
    ['Orders', sum.orders, sumBefore.orders, showNumber],
    ['Value', sum.value, sumBefore.value, showMoney],
    ['Average order', average(sum), average(sumBefore), showMoney],
    ['New customers', sum.newCustomers, sumBefore.newCustomers, showNumber],
  ] as const;
  return (
    <section aria-label="Totals">
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="xs">
        {figures.map(([label, now, before, show]) => (
          <Figure key={label} label={label} value={show(now)} note={noteOf(now, before, show)} />
        ))}
      </SimpleGrid>
    </section>
  );
}

function Trend({ range, sales }: { readonly range: Range; readonly sales: SalesOfRange }) {
  const { steps } = sales;
  const shown = useMemo(
    () => ({
      times: steps.map(({ at }) => localDay(at)),
      series: [
        {
          label: `Orders by ${range.step}`,
          values: steps.map(({ orders }) => orders),
          before: steps.map(({ ordersBefore }) => ordersBefore),
          show: showOrders,
          showTick: showShortNumber,
        },
        {
          label: `Value by ${range.step}, ${currencyName}`,
          values: steps.map(({ value }) => value),
          before: steps.map(({ valueBefore }) => valueBefore),
          show: showMoney,
          showTick: showShortMoney,
        },
      ],
    }),
    [steps, range.step],
  );
  async function* read() {
    yield* steps;
  }
  return (
    <section className="card" aria-label="Orders over time">
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Text fw={600}>Orders by {range.step}</Text>
        <CsvButton
          name={`sales-by-${range.step}`}
          read={read}
          columns={{
            from: ({ at }) => at.slice(0, 10),
            orders: ({ orders }) => orders,
            value: ({ value }) => value,
            ordersBefore: ({ ordersBefore }) => ordersBefore,
            valueBefore: ({ valueBefore }) => valueBefore,
          }}
          remedy="Choose a shorter range."
        />
      </Group>
      <div style={{ minHeight: chartHeight }}>
        <Suspense fallback={<Skeleton height={chartHeight} />}>
          <Chart caption="Bars: these days. Dashed line: the days before." {...shown} />
        </Suspense>
      </div>
    </section>
  );
}

function Tables({ sales }: { readonly sales: SalesOfRange }) {
  return (
    <div className="home-grid" data-even>
      <PartsTable
        title="Best sellers"
        column="Cheese"
        countColumn="Kilograms"
        rows={sales.cheeses}
        showName={({ key, name }) => (
          <Anchor component={Link} href={`/cheeses/${key}`} size="sm">
            {name}
          </Anchor>
        )}
        showCount={showKilograms}
        csv={{ name: 'best-sellers', columns: { id: ({ key }) => key, cheese: ({ name }) => name } }}
      />
      <PartsTable
        title="Categories"
        column="Category"
        countColumn="Kilograms"
        rows={sales.categories}
        showName={({ name }) =>
          name === null ? (
            'No category, or deleted cheeses'
          ) : (
            <Anchor component={Link} href={`/cheeses?category=${encodeURIComponent(name)}`} size="sm">
              {name}
            </Anchor>
          )
        }
        showCount={showKilograms}
        csv={{ name: 'sales-by-category', columns: { category: ({ name }) => name } }}
      />
      <PartsTable
        title="Countries"
        column="Country"
        countColumn="Orders"
        rows={sales.countries}
        showName={({ key }) => (
          <Anchor component={Link} size="sm" href={`/orders?view=list&country=${key}`}>
            {countryName(key)}
          </Anchor>
        )}
        showCount={showNumber}
        csv={{ name: 'sales-by-country', columns: { country: ({ key }) => key } }}
      />
      <PartsTable
        title="New and returning customers"
        column="Customers"
        countColumn="Orders"
        rows={sales.customers}
        showName={({ key }) => customerNames[key] ?? key}
        showCount={showNumber}
        csv={{ name: 'sales-by-customer', columns: { customer: ({ key }) => key } }}
      />
    </div>
  );
}

function SalesOf({ range }: { readonly range: Range }) {
  const sales = useApi(['statistics', 'sales of a range', range], (curd, signal) =>
    readSales(curd, range, signal),
  );
  return (
    <Read of={sales} what="sales">
      {(data) => (
        <Stack gap="sm">
          <Text size="sm">
            {showDays(range)}, compared with {showDays(rangeBefore(range))}. Days are in UTC. Cancelled orders
            are not counted.
            {data.isCounting
              ? ' The server still counts past orders, and these figures are not complete.'
              : ''}
          </Text>
          <Sums {...data} />
          {data.sum.orders === 0 ? (
            <Empty title="No orders in these days">Choose other days to see their orders.</Empty>
          ) : (
            <>
              <Trend range={range} sales={data} />
              <Tables sales={data} />
            </>
          )}
        </Stack>
      )}
    </Read>
  );
}

export default function Sales() {
  useFreshFigures();
  const [search] = useSearchParams();
  const today = new Date().toISOString().slice(0, 10);
  const chosen = chosenIn(search, today);
  const range = toRange(chosen);
  return (
    <>
      <PageTitle title="Sales" />
      <RangeFields chosen={chosen} range={range} today={today} />
      {range === null ? (
        <Empty title="No days">The last day is before the first day.</Empty>
      ) : (
        <SalesOf range={range} />
      )}
    </>
  );
}

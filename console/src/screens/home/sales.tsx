/** Orders and their value by day, and the cheeses that sold best in 7 days. */
import { Anchor, Group, SegmentedControl, Skeleton, Table, Text } from '@mantine/core';
import { lazy, Suspense, useMemo } from 'react';
import { Link } from 'wouter';
import { useApi } from '../../data/queries.ts';
import { Empty } from '../../parts/page.tsx';
import {
  currencyName,
  showKilograms,
  showMoney,
  showNumber,
  showShortMoney,
  showShortNumber,
} from '../../parts/text/format.ts';
import { asOneOf, useUrlValue } from '../../parts/url-filters.ts';
import { listTimes, listValues, toLocalDate, zone } from './days.ts';

const Chart = lazy(async () => ({ default: (await import('../../parts/chart.tsx')).Chart }));

/** Height of both panels with their labels, so that nothing moves when they arrive. */
const height = 300;
const noNumbers = 'These numbers cannot be read now.';
const ranges = ['7', '30', '90'];
const rangeByDefault = '30';

const showOrders = (count: number) => `${showNumber(count)} ${count === 1 ? 'order' : 'orders'}`;
const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);

export function Trend() {
  const [chosen, setDays] = useUrlValue('days', asOneOf(ranges), 'replace');
  const days = chosen ?? rangeByDefault;
  const { data, error } = useApi(['statistics', 'days', days], (curd) =>
    curd.statistics.getSeries({
      measures: ['orders.sold', 'orders.placedValue'],
      from: toLocalDate(1 - Number(days)),
      to: toLocalDate(1),
      zone,
    }),
  );
  const shown = useMemo(() => {
    const placed = data?.series['orders.sold'] ?? [];
    const counts = listValues(placed);
    const values = listValues(data?.series['orders.placedValue'] ?? []);
    return {
      count: sum(counts),
      times: listTimes(placed),
      caption: `${showOrders(sum(counts))}, ${showMoney(sum(values))} in ${days} days`,
      series: [
        { label: 'Orders by day', values: counts, show: showOrders, showTick: showShortNumber },
        { label: `Value by day, ${currencyName}`, values, show: showMoney, showTick: showShortMoney },
      ],
    };
  }, [data, days]);
  return (
    <section className="card" aria-label={`Orders of ${days} days`}>
      <Group justify="space-between" mb="xs" gap="xs">
        <Text fw={600}>Orders</Text>
        <SegmentedControl
          size="xs"
          aria-label="Days"
          value={days}
          data={ranges.map((value) => ({ value, label: `${value} days` }))}
          onChange={(value) => setDays(value === rangeByDefault ? null : value)}
        />
      </Group>
      <div style={{ minHeight: height }}>
        {error !== null ? (
          <Text size="sm" c="dimmed">
            {noNumbers}
          </Text>
        ) : data === undefined ? (
          <Skeleton height={height} />
        ) : shown.count === 0 ? (
          <Empty title={`No orders in ${days} days`}>
            The orders of each day, and their value, appear here.
          </Empty>
        ) : (
          <Suspense fallback={<Skeleton height={height} />}>
            <Chart {...shown} />
          </Suspense>
        )}
      </div>
    </section>
  );
}

export function BestSellers() {
  const { data, error } = useApi(['statistics', 'best sellers'], (curd) =>
    // Best sellers are counted by days in UTC.
    curd.statistics.listBestSellers({
      from: new Date(Date.now() - 6 * 24 * 3_600_000).toISOString().slice(0, 10),
      limit: 7,
    }),
  );
  return (
    <section className="card" aria-label="Best sellers of 7 days">
      <Text fw={600} mb="xs">
        Best sellers of 7 days
      </Text>
      {error !== null ? (
        <Text size="sm" c="dimmed">
          {noNumbers}
        </Text>
      ) : data === undefined ? (
        <Skeleton height={height} />
      ) : data.items.length === 0 ? (
        <Text size="sm" c="dimmed">
          No orders in these days.
        </Text>
      ) : (
        <Table verticalSpacing={4} horizontalSpacing={4} withRowBorders={false}>
          <Table.Tbody>
            {data.items.map(({ cheeseId, cheeseName, kilograms, value }) => (
              <Table.Tr key={cheeseId}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  <Anchor component={Link} href={`/cheeses/${cheeseId}`} size="sm">
                    {cheeseName}
                  </Anchor>
                </Table.Td>
                <Table.Td ta="right" className="figure" style={{ whiteSpace: 'nowrap' }}>
                  {showKilograms(kilograms)}
                </Table.Td>
                <Table.Td ta="right" className="figure">
                  {showMoney(value)}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </section>
  );
}

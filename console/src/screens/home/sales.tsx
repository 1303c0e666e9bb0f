/** Orders and their value over 30 days, and the cheeses that sold best in 7. */
import { Anchor, Skeleton, Table, Text } from '@mantine/core';
import { lazy, Suspense, useMemo } from 'react';
import { Link } from 'wouter';
import { showKilograms, showMoney, showNumber } from '../../parts/format.ts';
import { useApi } from '../../queries.ts';
import { dateOf, timesOf, valuesOf, zone } from './days.ts';

const Chart = lazy(async () => ({ default: (await import('../../parts/chart.tsx')).Chart }));

const height = 200;
const noNumbers = 'These numbers cannot be read now.';

export function Trend() {
  const { data, error } = useApi(['statistics', 'month'], (curd) =>
    curd.statistics.getSeries({
      measures: ['orders.placed', 'orders.placedValue'],
      from: dateOf(-29),
      to: dateOf(1),
      zone,
    }),
  );
  const shown = useMemo(() => {
    const placed = data?.series['orders.placed'] ?? [];
    const counts = valuesOf(placed);
    const values = valuesOf(data?.series['orders.placedValue'] ?? []);
    const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);
    return {
      times: timesOf(placed),
      caption: `${showNumber(sum(counts))} ${sum(counts) === 1 ? 'order' : 'orders'}, ${showMoney(sum(values))} in 30 days`,
      series: [
        { label: 'Orders', values: counts, show: showNumber },
        { label: 'Value', values, show: showMoney },
      ],
    };
  }, [data]);
  return (
    <section className="card" aria-label="Orders of 30 days">
      {error !== null ? (
        <Text size="sm" c="dimmed">
          {noNumbers}
        </Text>
      ) : data === undefined ? (
        <Skeleton height={height + 60} />
      ) : (
        <Suspense fallback={<Skeleton height={height + 60} />}>
          <Chart {...shown} height={height} />
        </Suspense>
      )}
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

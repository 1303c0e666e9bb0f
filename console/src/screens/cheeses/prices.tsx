/** The price of a cheese by day, once it has changed. */
import { Skeleton, Text, Title } from '@mantine/core';
import { lazy, Suspense, useMemo } from 'react';
import type { Result } from '../../../../client/src/index.ts';
import { useApi } from '../../data/queries.ts';
import { currencyName, showMoney, showShortMoney } from '../../parts/text/format.ts';

type PricePage = Result<'listCheesePrices'>;

const Chart = lazy(async () => ({ default: (await import('../../parts/chart.tsx')).Chart }));

const daysMax = 90;
const height = 160;

export function Prices({ cheeseId }: { readonly cheeseId: number }) {
  const { data } = useApi(
    [`cheese ${cheeseId}`, 'prices'],
    async (curd, signal): Promise<PricePage> =>
      await curd.cheeses.listPrices(cheeseId, { limit: 100 }, { signal }),
  );
  const shown = useMemo(() => (data === undefined ? undefined : chartOf(data)), [data]);
  if (data === undefined || data.items.length < 2 || shown === undefined) {
    return null;
  }
  return (
    <section aria-label="Prices">
      <Title order={2} size="h5" mb="xs">
        Prices
      </Title>
      {shown.times.length < 2 ? (
        <Text size="sm">{shown.caption}. All prices are of today: a chart by day begins tomorrow.</Text>
      ) : (
        <div style={{ minHeight: height }}>
          <Suspense fallback={<Skeleton height={height} />}>
            <Chart {...shown} />
          </Suspense>
        </div>
      )}
    </section>
  );
}

function chartOf({ items, lowest30Days, reduction }: PricePage, now = new Date()) {
  const days = daysSince(items.at(-1)?.from, now);
  const values = days.map((_, index) => {
    const end = days[index + 1]?.getTime() ?? now.getTime();
    return items.find(({ from }) => Date.parse(from) <= end)?.pricePerKg ?? null;
  });
  const lowest =
    lowest30Days === null ? 'No price in 30 days' : `Lowest of 30 days: ${showMoney(lowest30Days)}`;
  const reduced =
    reduction === null || reduction.percent === null
      ? ''
      : `. ${reduction.percent}% below ${showMoney(reduction.priorPrice)}, the lowest price of the 30 days before`;
  return {
    times: days.map((day) => day.toISOString()),
    caption: `${lowest}${reduced}`,
    series: [
      {
        label: `Price at the end of each day, ${currencyName} per kg`,
        values,
        isLine: true,
        show: showMoney,
        showTick: showShortMoney,
      },
    ],
  };
}

/** The beginnings of the last days, today included, from the day of a time on. */
function daysSince(time: string | undefined, now: Date): Date[] {
  const first = Date.parse(time ?? now.toISOString());
  const days: Date[] = [];
  for (let ago = daysMax - 1; ago >= 0; ago -= 1) {
    const [year, month, date] = [now.getFullYear(), now.getMonth(), now.getDate() - ago];
    // Midnights are not 24 hours apart when the clocks change.
    if (new Date(year, month, date + 1).getTime() > first) {
      days.push(new Date(year, month, date));
    }
  }
  return days;
}

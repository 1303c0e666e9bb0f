/** The figures of today, compared with the same weekday before up to the same hour, and what waits. */
import { SimpleGrid } from '@mantine/core';
import { useApi } from '../../data/queries.ts';
import { Figure } from '../../parts/figure.tsx';
import { locale, showMoney, showNumber } from '../../parts/text/format.ts';
import { useOrderTotal } from '../orders/totals.ts';
import { changeText, dayMs, midnight, sumBetween, toLocalDate, zone } from './days.ts';

export function Figures() {
  const { data } = useApi(['statistics', 'today'], (curd) =>
    curd.statistics.getSeries({
      measures: ['orders.sold', 'orders.placedValue', 'customers.created'],
      from: toLocalDate(-7),
      to: toLocalDate(1),
      step: 'hour',
      zone,
    }),
  );
  const toApprove = useOrderTotal('needsApproval');
  const toShip = useOrderTotal('toShip');
  const late = useOrderTotal('late');
  const shown = (total: number | undefined) => (total === undefined ? undefined : showNumber(total));

  function today(measure: 'orders.sold' | 'orders.placedValue' | 'customers.created') {
    const points = data?.series[measure];
    if (points === undefined) {
      return undefined;
    }
    const begin = midnight(0);
    const sinceBegin = Date.now() - begin;
    const beginBefore = midnight(-7);
    const value = sumBetween(points, begin, begin + dayMs * 2);
    return {
      value,
      note: changeText(value, sumBetween(points, beginBefore, beginBefore + sinceBegin), locale),
    };
  }

  const placed = today('orders.sold');
  const value = today('orders.placedValue');
  const customers = today('customers.created');
  return (
    <section aria-label="Today">
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="xs">
        <Figure label="Placed today" value={shown(placed?.value)} note={placed?.note ?? null} />
        <Figure
          label="Value today"
          value={value === undefined ? undefined : showMoney(value.value)}
          note={value?.note ?? null}
        />
        <Figure
          label="To approve"
          value={shown(toApprove)}
          note="without a price"
          href="/orders?view=list&tab=needsApproval"
        />
        <Figure label="To ship" value={shown(toShip)} href="/orders?view=list&status=approved" />
        <Figure
          label="Late"
          value={shown(late)}
          href="/orders?view=list&tab=late"
          isLate={late !== undefined && late > 0}
        />
        <Figure
          label="New customers"
          value={shown(customers?.value)}
          note={customers?.note ?? null}
          href="/customers"
        />
      </SimpleGrid>
    </section>
  );
}

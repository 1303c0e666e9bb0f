/** Orders: a board or a list, one order, a new one, packing slips, and shipping with tracking numbers. */
import { Anchor, Button, SegmentedControl } from '@mantine/core';
import { lazy, Suspense, useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import { Empty, Loading, PageTitle } from '../../parts/page.tsx';
import type { ScreenProps } from '../../parts/screen.ts';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { readId } from '../../parts/text/ids.ts';
import { asOneOf, useUrlValue } from '../../parts/url-filters.ts';
import { Board } from './board.tsx';
import { OrderList } from './list.tsx';
import { OrderDetail } from './order.tsx';
import { PackingSlips } from './shipping/packing-slips.tsx';
import { Shipping } from './shipping/shipping.tsx';

/** Loaded when it is opened: few persons take orders by telephone. */
const readNewOrder = () => import('./new/new-order.tsx');
const NewOrder = lazy(async () => ({ default: (await readNewOrder()).NewOrder }));

export default function Orders({ id }: ScreenProps) {
  if (id === 'slips') {
    return <PackingSlips />;
  }
  if (id === 'ship') {
    return <Shipping />;
  }
  if (id === 'new') {
    return (
      <Suspense fallback={<Loading what="the form" />}>
        <NewOrder />
      </Suspense>
    );
  }
  if (id === undefined) {
    return <AllOrders />;
  }
  const order = readId(id);
  return order === undefined ? (
    <>
      <PageTitle title="Orders" />
      <Empty title="There is no such order">
        <Anchor component={Link} href="/orders">
          All orders
        </Anchor>
      </Empty>
    </>
  ) : (
    <OrderDetail key={id} id={order} />
  );
}

function AllOrders() {
  const [view] = useUrlValue('view', asOneOf(['list']));
  const [, navigate] = useLocation();
  useShortcuts({ n: () => navigate('/orders/new') });
  // The form is there at once when it is opened.
  useEffect(() => void readNewOrder().catch(() => {}), []);
  return (
    <>
      <PageTitle title="Orders">
        <Button size="xs" variant="default" component={Link} href="/orders/ship">
          Ship with tracking
        </Button>
        <Button size="xs" component={Link} href="/orders/new">
          New order
        </Button>
        <SegmentedControl
          size="xs"
          aria-label="View"
          value={view ?? 'board'}
          data={[
            { value: 'board', label: 'Board' },
            { value: 'list', label: 'List' },
          ]}
          onChange={(chosen) => navigate(chosen === 'list' ? '/orders?view=list' : '/orders')}
        />
      </PageTitle>
      {view === 'list' ? <OrderList /> : <Board />}
    </>
  );
}

/** Packing slips of one or many orders, a page each. They are read by who packs: pieces or kilograms, and no prices. */
import { Anchor, Button, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { Curd, Order } from '../../../../../client/src/index.ts';
import { useCurd } from '../../../data/queries.ts';
import { shopName } from '../../../environment.ts';
import { Empty, PageTitle, Read } from '../../../parts/page.tsx';
import { useShortcuts } from '../../../parts/shortcuts.ts';
import { showDate, showDay, showKilograms, showNumber } from '../../../parts/text/format.ts';
import { quantityOf, weightOf } from '../lines.ts';
import { ShippingAddress } from '../order-fields.tsx';
import { idsIn, readOrders } from './read-orders.ts';

/** Names that the API returns at once. */
const namesMax = 100;

/** Who each order is for, by the id of the order; nobody if an API key placed it. */
async function readRecipients(curd: Curd, ids: readonly number[], signal: AbortSignal) {
  const names = new Map<number, string>();
  for (let begin = 0; begin < ids.length; begin += namesMax) {
    const of = ids.slice(begin, begin + namesMax).map((id) => `order-customer:${id}`);
    for (const item of (await curd.events.listNames({ of }, { signal })).items) {
      names.set(Number(item.of.split(':')[1]), item.name);
    }
  }
  return names;
}

export function PackingSlips() {
  const curd = useCurd();
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const ids = idsIn(search);
  const slips = useQuery({
    // The lines of an order never change: events need not make up to a thousand of them stale.
    queryKey: ['slips', ids],
    queryFn: async ({ signal }): Promise<readonly SlipOf[]> => {
      const [orders, names] = await Promise.all([
        readOrders(curd, ids, signal),
        readRecipients(curd, ids, signal),
      ]);
      return orders.map((order) => ({
        order,
        recipient: order.shippingAddress.name ?? names.get(order.id) ?? null,
      }));
    },
  });
  const ship = `/orders/ship?ids=${ids.join(',')}`;
  useShortcuts({
    ...(slips.data === undefined ? {} : { p: () => window.print() }),
    ...(ids.length === 0 ? {} : { t: () => navigate(ship) }),
  });
  return (
    <>
      <div className="no-print">
        <PageTitle title="Packing slips" back={{ href: '/orders', text: 'All orders' }}>
          {ids.length === 0 ? null : (
            <>
              <Button size="xs" variant="default" component={Link} href={ship}>
                Ship with tracking
              </Button>
              <Button size="xs" disabled={slips.data === undefined} onClick={() => window.print()}>
                Print {showNumber(ids.length)}
              </Button>
            </>
          )}
        </PageTitle>
      </div>
      {ids.length === 0 ? (
        <Empty title="No orders are selected">
          Select orders in{' '}
          <Anchor component={Link} href="/orders?view=list">
            the list
          </Anchor>
          .
        </Empty>
      ) : (
        <Read of={slips} what="the orders">
          {(all) => all.map((slip) => <Slip key={slip.order.id} {...slip} />)}
        </Read>
      )}
    </>
  );
}

interface SlipOf {
  readonly order: Order;
  /** The name in the shipping address, or the customer; null: an API key placed it. */
  readonly recipient: string | null;
}

function Slip({ order, recipient }: SlipOf) {
  const total = weightOf(order);
  return (
    <article className="slip" aria-label={`Packing slip of order ${order.id}`}>
      <header className="slip-head">
        <Text fw={700}>{shopName}</Text>
        <Title order={2} size="h4">
          Order {order.id}
        </Title>
        <Text size="sm">{showDay(order.createdAt)}</Text>
      </header>
      <address>
        {recipient === null ? null : (
          <>
            <strong>{recipient}</strong>
            <br />
          </>
        )}
        <ShippingAddress order={order} />
      </address>
      <SlipDelivery order={order} />
      {order.notes === null ? null : (
        <Text size="sm" my="sm">
          <strong>Notes:</strong> {order.notes}
        </Text>
      )}
      <Table aria-label={`Cheeses of order ${order.id}`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Cheese</Table.Th>
            <Table.Th ta="right">Quantity</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {order.items.map(({ cheeseName, portionName, ...line }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines of an order never change.
            <Table.Tr key={index}>
              <Table.Td>{portionName === undefined ? cheeseName : `${cheeseName}, ${portionName}`}</Table.Td>
              <Table.Td ta="right" className="figure">
                {quantityOf(line)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
        <Table.Tfoot>
          <Table.Tr>
            <Table.Th>Total</Table.Th>
            <Table.Th ta="right" className="figure">
              {showKilograms(total)}
            </Table.Th>
          </Table.Tr>
        </Table.Tfoot>
      </Table>
    </article>
  );
}

/** How and when it goes, and the message of a gift. */
function SlipDelivery({ order: { breakdown, requestedDate, arrivesOn, gift } }: Pick<SlipOf, 'order'>) {
  const lines = [
    breakdown?.delivery === undefined
      ? null
      : ([breakdown.delivery.kind === 'pickup' ? 'Pickup' : 'Delivery', breakdown.delivery.name] as const),
    requestedDate === undefined ? null : (['Requested day of shipping', showDate(requestedDate)] as const),
    arrivesOn === undefined ? null : (['Arrives', showDate(arrivesOn)] as const),
  ].filter((line) => line !== null);
  return (
    <>
      {lines.map(([title, text]) => (
        <Text size="sm" key={title} mt={4}>
          <strong>{title}:</strong> {text}
        </Text>
      ))}
      {gift === undefined ? null : (
        <section aria-label="Gift" className="slip-gift">
          {gift.hidePrices ? (
            <Text size="xs" c="dimmed" className="no-print">
              A gift: put nothing with prices into the parcel. This line is not printed.
            </Text>
          ) : null}
          {gift.message === null ? null : <Text style={{ whiteSpace: 'pre-wrap' }}>{gift.message}</Text>}
        </section>
      )}
    </>
  );
}

/** Packing slips of one or many orders, a page each. They are read by who packs: kilograms, and no prices. */
import { Anchor, Button, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import type { Customer, Order } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { shopName } from '../../environment.ts';
import { Empty, Loading, PageTitle, Problem } from '../../parts/page.tsx';
import { showDay, showKilograms } from '../../parts/text/format.ts';
import { ShippingAddress, weightOf } from './order-fields.tsx';

/** More do not fit into a URL. */
export const slipsMax = 200;

export function PackingSlips() {
  const curd = useCurd();
  const [search] = useSearchParams();
  const ids = (search.get('ids') ?? '')
    .split(',')
    .filter((id) => /^[1-9]\d{0,14}$/.test(id))
    .slice(0, slipsMax)
    .map(Number);
  const { data, error, refetch } = useQuery({
    // The lines of an order never change: events need not make up to 200 of them stale.
    queryKey: ['slips', ids],
    queryFn: ({ signal }) =>
      Promise.all(
        ids.map(async (id): Promise<SlipOf> => {
          const [order, customer] = await Promise.all([
            curd.orders.get(id, { signal }),
            curd.orders.getCustomer(id, { signal }),
          ]);
          return { order, customer: customer ?? null };
        }),
      ),
  });
  return (
    <>
      <div className="no-print">
        <PageTitle title="Packing slips">
          <Button size="xs" disabled={data === undefined} onClick={() => window.print()}>
            Print {ids.length}
          </Button>
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
      ) : error !== null ? (
        <Problem error={error} retry={refetch} />
      ) : data === undefined ? (
        <Loading what="the orders" />
      ) : (
        data.map((slip) => <Slip key={slip.order.id} {...slip} />)
      )}
    </>
  );
}

interface SlipOf {
  readonly order: Order;
  /** null: an API key placed it. */
  readonly customer: Customer | null;
}

function Slip({ order, customer }: SlipOf) {
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
        {customer === null ? null : (
          <>
            <strong>
              {customer.firstName} {customer.lastName}
            </strong>
            <br />
          </>
        )}
        <ShippingAddress order={order} />
      </address>
      {order.notes === null ? null : (
        <Text size="sm" my="sm">
          <strong>Notes:</strong> {order.notes}
        </Text>
      )}
      <Table aria-label={`Cheeses of order ${order.id}`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Cheese</Table.Th>
            <Table.Th ta="right">Weight</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {order.items.map(({ cheeseId, cheeseName, quantity }) => (
            <Table.Tr key={cheeseId}>
              <Table.Td>{cheeseName}</Table.Td>
              <Table.Td ta="right" className="figure">
                {showKilograms(quantity)}
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

/** The newest orders of a customer or of a key. */
import { Anchor, Group, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useApi } from '../../data/queries.ts';
import { Empty, Read } from '../page.tsx';
import { showMoney, showNumber } from '../text/format.ts';
import { Time } from '../text/time.tsx';

const ordersShown = 20;

interface Props {
  readonly of: { readonly customerId: number } | { readonly placedBy: string };
  readonly whenEmpty: string;
  /** @param hasMore whether there are orders that are not shown */
  readonly showLinks: (hasMore: boolean) => ReactNode;
}

export function NewestOrders({ of, whenEmpty, showLinks }: Props) {
  const orders = useApi(['orders', 'newest', of], (curd) => curd.orders.list({ ...of, limit: ordersShown }));
  const { data } = orders;
  return (
    <section className="card" aria-label="Orders">
      <Group justify="space-between" mb="xs">
        <Text fw={600}>Orders{data === undefined ? '' : ` (${showNumber(data.total)})`}</Text>
        {showLinks(data !== undefined && data.total > ordersShown)}
      </Group>
      <Read of={orders} what="orders">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No orders yet">{whenEmpty}</Empty>
          ) : (
            <Table verticalSpacing={6}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Order</Table.Th>
                  <Table.Th>Placed</Table.Th>
                  <Table.Th>Status</Table.Th>
                  <Table.Th ta="right">Total</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {items.map(({ id, createdAt, status, total }) => (
                  <Table.Tr key={id}>
                    <Table.Td>
                      <Anchor component={Link} href={`/orders/${id}`} size="sm">
                        {id}
                      </Anchor>
                    </Table.Td>
                    <Table.Td>
                      <Time at={createdAt} isRelative />
                    </Table.Td>
                    <Table.Td>{status}</Table.Td>
                    <Table.Td ta="right" className="figure">
                      {showMoney(total)}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )
        }
      </Read>
    </section>
  );
}

/** Ships many approved orders with their tracking numbers: a field each, for a scanner, which ends a number with Enter. */
import { Anchor, Button, Group, Table, Text, TextInput } from '@mantine/core';
import { useCallback, useRef, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { Order } from '../../../../../client/src/index.ts';
import { useApi, useCurd } from '../../../data/queries.ts';
import { invalidate } from '../../../parts/action.ts';
import { Empty, Loading, PageTitle, Problem } from '../../../parts/page.tsx';
import { Bulk } from '../../../parts/tables/bulk.tsx';
import { linesOf, Recipient } from '../order-fields.tsx';
import { fillFrom, numbersIn, readCarrier, shipmentOf, storeCarrier } from './tracking.ts';

const ordersMax = 200;
const nameOf = ({ id }: Order) => `Order ${id}`;

/** Shows the orders that the URL names, or else the approved ones, the oldest first. */
export function Shipping() {
  const [search] = useSearchParams();
  const ids = (search.get('ids') ?? '')
    .split(',')
    .filter((id) => /^[1-9]\d{0,14}$/.test(id))
    .slice(0, ordersMax)
    .map(Number);
  // Orders that are shipped meanwhile, here or elsewhere, do not disappear below the scanner.
  const [kept, setKept] = useState<readonly Order[] | null>(null);
  const {
    data: read,
    error,
    refetch,
  } = useApi(['orders', 'shipping', ids], async (curd, signal) => {
    if (ids.length === 0) {
      return (await curd.orders.list({ status: ['approved'], sort: 'createdAt', limit: 100 }, { signal }))
        .items;
    }
    const orders = await Promise.all(ids.map((id) => curd.orders.get(id, { signal })));
    return orders.filter(({ status }) => status === 'approved');
  });
  if (kept === null && read !== undefined) {
    setKept(read);
  }
  const data = kept ?? read;
  return (
    <>
      {data === undefined ? (
        <>
          <PageTitle title="Ship with tracking" />
          {error === null ? <Loading what="the orders" /> : <Problem error={error} retry={refetch} />}
        </>
      ) : data.length === 0 ? (
        <>
          <PageTitle title="Ship with tracking" />
          <Empty title="No approved orders">
            <Anchor component={Link} href="/orders">
              All orders
            </Anchor>
          </Empty>
        </>
      ) : (
        <Fields orders={data} />
      )}
    </>
  );
}

function Fields({ orders }: { readonly orders: readonly Order[] }) {
  const curd = useCurd();
  const [, navigate] = useLocation();
  const [fields, setFields] = useState(readCarrier);
  const [numbers, setNumbers] = useState<ReadonlyMap<number, string>>(new Map());
  const [isShipping, setShipping] = useState(false);
  const body = useRef<HTMLTableSectionElement>(null);
  const ids = orders.map(({ id }) => id);
  const filled = orders.filter(({ id }) => (numbers.get(id) ?? '').trim() !== '');

  const focus = (index: number) => {
    const inputs = body.current?.querySelectorAll('input');
    (inputs?.[index] ?? document.querySelector<HTMLElement>('[data-ship]'))?.focus();
  };
  const ship = useCallback(
    ({ id }: Order) => curd.orders.ship(id, shipmentOf(fields, numbers.get(id) ?? '')),
    [curd, fields, numbers],
  );

  return (
    <>
      <PageTitle title="Ship with tracking">
        <Button
          size="xs"
          data-ship
          disabled={filled.length === 0}
          onClick={() => {
            storeCarrier(fields);
            setShipping(true);
          }}
        >
          Ship {filled.length}
        </Button>
      </PageTitle>
      <Group mb="sm" align="end">
        <TextInput
          size="xs"
          label="Carrier"
          maxLength={80}
          value={fields.carrier}
          onChange={({ currentTarget }) => setFields({ ...fields, carrier: currentTarget.value })}
        />
        <TextInput
          size="xs"
          w={380}
          label="Tracking page"
          placeholder="https://carrier.example/track/{number}"
          maxLength={420}
          value={fields.urlTemplate}
          onChange={({ currentTarget }) => setFields({ ...fields, urlTemplate: currentTarget.value })}
        />
      </Group>
      <Text size="xs" c="dimmed" mb="xs">
        Scan or write a number: Enter moves to the next order. A column that is pasted fills the fields from
        this one on. Orders without a number are not shipped.
      </Text>
      <Table verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Order</Table.Th>
            <Table.Th>To</Table.Th>
            <Table.Th visibleFrom="sm">Cheeses</Table.Th>
            <Table.Th>Tracking number</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody ref={body}>
          {orders.map((order, index) => {
            const { id } = order;
            return (
              <Table.Tr key={id}>
                <Table.Td>
                  <Anchor component={Link} size="sm" href={`/orders/${id}`} tabIndex={-1}>
                    {id}
                  </Anchor>
                </Table.Td>
                <Table.Td>
                  <Recipient order={order} />
                </Table.Td>
                <Table.Td visibleFrom="sm">{linesOf(order)}</Table.Td>
                <Table.Td>
                  <TextInput
                    size="xs"
                    aria-label={`Tracking number of order ${id}`}
                    autoFocus={index === 0}
                    autoComplete="off"
                    maxLength={80}
                    value={numbers.get(id) ?? ''}
                    onChange={({ currentTarget }) =>
                      setNumbers(new Map(numbers).set(id, currentTarget.value))
                    }
                    onKeyDown={(event) => {
                      if (event.key === 'Enter') {
                        event.preventDefault();
                        focus(index + 1);
                      }
                    }}
                    onPaste={(event) => {
                      const pasted = numbersIn(event.clipboardData.getData('text'));
                      if (pasted.length > 1) {
                        event.preventDefault();
                        setNumbers(fillFrom(numbers, ids, index, pasted));
                        focus(Math.min(index + pasted.length, ids.length));
                      }
                    }}
                  />
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
      {isShipping ? (
        <Bulk
          title={`Ship ${filled.length} ${filled.length === 1 ? 'order' : 'orders'}`}
          items={filled}
          nameOf={nameOf}
          run={ship}
          onClose={() => {
            setShipping(false);
            void invalidate('orders', ...filled.map(({ id }) => `order ${id}`));
            navigate('/orders');
          }}
        />
      ) : null}
    </>
  );
}

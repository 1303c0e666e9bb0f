/** One order: lines, shipping address, customer, and the timeline with who, when and why. */
import { Anchor, Box, Button, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../../data/queries.ts';
import { Notes, type NotesOf } from '../../parts/notes.tsx';
import { PageTitle, Read } from '../../parts/page.tsx';
import { AmountCells, breakdownRows } from '../../parts/prices/breakdown.tsx';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { Actor } from '../../parts/text/actor.tsx';
import { describeCustomer } from '../../parts/text/customer-name.ts';
import { showDate, showKilograms, showMoney } from '../../parts/text/format.ts';
import { RequestLink } from '../../parts/text/request-link.tsx';
import { Time } from '../../parts/text/time.tsx';
import { useHeld } from './held.ts';
import { amountOf, quantityOf, weightOf } from './lines.ts';
import { useMoves } from './moved-orders.ts';
import { ShippingAddress, StatusBadge, useRecipient, Warnings } from './order-fields.tsx';
import { Shipment, Tracking } from './shipping/shipment.tsx';
import { type Requested, TransitionDialog } from './transition-dialogs.tsx';
import { cancel, type Transition, transitions, useTransition } from './transitions.ts';

export function OrderDetail({ id }: { readonly id: number }) {
  const read = useApi([`order ${id}`], (curd) => curd.orders.get(id));
  const [requested, setRequested] = useState<Requested | null>(null);
  const make = useTransition();
  const { latest } = useMoves();
  const order = read.data && latest(read.data);

  const held = useHeld(id);

  const buttons = useRef<HTMLDivElement>(null);
  const isFocusDue = useRef(false);
  const request = (transition: Transition) => {
    isFocusDue.current = buttons.current?.contains(document.activeElement) === true;
    if (order !== undefined && transition === cancel && cancel.from.includes(order.status)) {
      setRequested({ transition, orders: [order] });
    } else if (order !== undefined) {
      void make(transition, order);
    }
  };
  // The button that was pressed is not there any more.
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each change of the buttons.
  useEffect(() => {
    if (isFocusDue.current && document.activeElement === document.body) {
      buttons.current?.querySelector<HTMLElement>('button, a')?.focus();
    }
  }, [order?.status, held]);
  useShortcuts(
    Object.fromEntries(transitions.map((transition) => [transition.key, () => request(transition)])),
  );

  if (order === undefined) {
    return (
      <Read of={read} what="the order" heading={<PageTitle title={`Order ${id}`} />}>
        {() => null}
      </Read>
    );
  }
  const hasPieces = order.items.some(({ grams }) => grams !== undefined);
  return (
    <>
      <PageTitle title={`Order ${id}`} back={{ href: '/orders', text: 'All orders' }}>
        <StatusBadge order={order} />
        <Warnings order={order} />
        <Group gap="xs" ref={buttons}>
          {held?.isSent === false ? (
            <Button size="xs" variant="default" onClick={held.undo}>
              Undo
            </Button>
          ) : null}
          {transitions
            .filter((one) => one.from.includes(order.status) && one.to !== held?.to)
            .map((transition) => (
              <Button
                key={transition.key}
                size="xs"
                variant={transition === cancel ? 'default' : 'filled'}
                onClick={() => request(transition)}
              >
                {transition.verb}
              </Button>
            ))}
          {order.status === 'cancelled' ? (
            <Button size="xs" component={Link} href={`/orders/new?again=${id}`}>
              Order again
            </Button>
          ) : null}
          <Button size="xs" variant="default" component={Link} href={`/orders/slips?ids=${id}`}>
            Packing slip
          </Button>
        </Group>
      </PageTitle>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Stack gap="md">
          <section className="card" aria-label="Cheeses">
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Cheese</Table.Th>
                  <Table.Th ta="right">Quantity</Table.Th>
                  <Table.Th ta="right" visibleFrom="sm">
                    {hasPieces ? 'Each' : 'Price per kg'}
                  </Table.Th>
                  <Table.Th ta="right">Price</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {order.items.map((line, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the lines of an order never change.
                  <OrderLine key={index} line={line} hasPieces={hasPieces} />
                ))}
              </Table.Tbody>
              <OrderFoot order={order} />
            </Table>
          </section>
          <Shipment order={order} />
          <Notes of={notesOf(id)} />
        </Stack>
        <Stack gap="md">
          <OrderFacts order={order} />
          <OrderTimeline id={id} />
        </Stack>
      </SimpleGrid>
      {requested === null ? null : <TransitionDialog {...requested} onClose={() => setRequested(null)} />}
    </>
  );
}

type Line = Order['items'][number];

/** The total, and how it comes about. */
function OrderFoot({ order }: { readonly order: Order }) {
  const { breakdown, total } = order;
  return (
    <Table.Tfoot>
      <Table.Tr>
        <Table.Th>{breakdown === undefined ? 'Total' : 'Cheeses'}</Table.Th>
        <Table.Th ta="right" className="figure">
          {showKilograms(weightOf(order))}
        </Table.Th>
        <Table.Td visibleFrom="sm" />
        <Table.Th ta="right" className="figure">
          {showMoney(breakdown?.subtotal ?? total)}
        </Table.Th>
      </Table.Tr>
      {breakdown === undefined
        ? null
        : breakdownRows(breakdown, total).map((row) => (
            <Table.Tr key={row.label}>
              <Table.Td visibleFrom="sm" />
              <AmountCells {...row} labelSpan={2} />
            </Table.Tr>
          ))}
    </Table.Tfoot>
  );
}

/** @param hasPieces whether the order has lines in pieces, beside which a price says that it is of a kilogram */
function OrderLine({ line, hasPieces }: { readonly line: Line; readonly hasPieces: boolean }) {
  const { cheeseId, cheeseName, portionName, unitPrice, pricePerKg } = line;
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} href={`/cheeses/${cheeseId}`} size="sm" className="row-name">
          {cheeseName}
        </Anchor>
        {portionName === undefined ? null : (
          <Text size="xs" c="dimmed">
            {portionName}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right" className="figure">
        {quantityOf(line)}
      </Table.Td>
      <Table.Td ta="right" className="figure" visibleFrom="sm">
        {pricePerKg === 0 ? 'no price' : showMoney(unitPrice ?? pricePerKg)}
        {hasPieces && unitPrice === undefined && pricePerKg > 0 ? ' / kg' : ''}
      </Table.Td>
      <Table.Td ta="right" className="figure">
        {showMoney(amountOf(line))}
      </Table.Td>
    </Table.Tr>
  );
}

const notesOf = (id: number): NotesOf => ({
  key: `order ${id}`,
  list: (curd) => curd.orders.listNotes(id, { limit: 100 }),
  create: (curd, text) => curd.orders.createNote(id, { text }),
});

type Order = Requested['orders'][number];

function OrderFacts({ order }: { readonly order: Order }) {
  const recipient = useRecipient(order);
  const customer = useApi(
    [`order ${order.id}`, 'customer'],
    async (curd) => (await curd.orders.getCustomer(order.id)) ?? null,
  );
  return (
    <section className="card" aria-label="Delivery">
      <SimpleGrid cols={2} spacing="sm">
        <Fact title="Shipping address">
          {recipient}
          {recipient === null ? null : <br />}
          <ShippingAddress order={order} />
        </Fact>
        {order.shippingAddress.phone === undefined ? null : (
          <Fact title="Phone">{order.shippingAddress.phone}</Fact>
        )}
        <Fact title="Customer">
          {customer.data === undefined ? (
            ''
          ) : customer.data === null ? (
            'None: placed without one, or deleted'
          ) : (
            <Anchor component={Link} size="sm" href={`/customers/${customer.data.id}`}>
              {describeCustomer(customer.data)}
            </Anchor>
          )}
          {customer.data ? (
            <Anchor
              component={Link}
              size="sm"
              display="block"
              href={`/mail?order=${order.id}`}
              aria-label="Mails of the order"
            >
              Mails
            </Anchor>
          ) : null}
        </Fact>
        <Fact title="Placed">
          <Time at={order.createdAt} /> <PlacingRequest order={order} />
        </Fact>
        <Fact
          title={order.status === 'shipped' || order.status === 'delivered' ? 'Shipped' : 'To be shipped'}
        >
          {order.shipDate === null ? '-' : <Time at={order.shipDate} />}
        </Fact>
        <DeliveryFacts order={order} />
      </SimpleGrid>
      {order.gift === undefined ? null : (
        <Box mt="sm">
          <Fact title={order.gift.hidePrices ? 'Gift, without prices on the slip' : 'Gift'}>
            <span style={{ whiteSpace: 'pre-wrap' }}>{order.gift.message ?? 'No message'}</span>
          </Fact>
        </Box>
      )}
      {order.notes === null ? null : (
        <Box mt="sm">
          <Fact title="Notes">
            <span style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{order.notes}</span>
          </Fact>
        </Box>
      )}
    </section>
  );
}

/** What the customer chose, and when it arrives. */
function DeliveryFacts({ order }: { readonly order: Order }) {
  const { breakdown, requestedDate, arrivesOn } = order;
  return (
    <>
      {breakdown?.delivery === undefined ? null : (
        <Fact title={breakdown.delivery.kind === 'pickup' ? 'Pickup' : 'Delivery'}>
          {breakdown.delivery.name}
        </Fact>
      )}
      {requestedDate === undefined ? null : (
        <Fact title="Requested day of shipping">{showDate(requestedDate)}</Fact>
      )}
      {arrivesOn === undefined ? null : <Fact title="Arrives">{showDate(arrivesOn)}</Fact>}
    </>
  );
}

/** A link to the request that placed the order, if one did. */
function PlacingRequest({ order: { id, createdAt } }: { readonly order: Order }) {
  const { data } = useApi([`order ${id}`, 'placing request'], async (curd, signal) => {
    const { items } = await curd.events.list(
      { subject: `order:${id}`, types: ['order.placed'], since: createdAt, limit: 1 },
      { signal },
    );
    return items[0]?.requestId ?? null;
  });
  return data == null ? null : <RequestLink id={data} />;
}

function Fact({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <Text size="sm" component="div" className="fact">
        {children}
      </Text>
    </div>
  );
}

function OrderTimeline({ id }: { readonly id: number }) {
  const timeline = useApi([`order ${id}`, 'timeline'], (curd) => curd.orders.getTimeline(id));
  return (
    <section className="card" aria-labelledby="timeline">
      <Title order={2} size="h5" id="timeline" mb="xs">
        Timeline
      </Title>
      <Read of={timeline}>
        {({ items }) => (
          <ol className="timeline">
            {items.map(({ status, at, by, reason, shipment }) => (
              <li key={`${status} ${at}`}>
                <Text size="sm" fw={600}>
                  {status}
                </Text>
                <Text size="xs" c="dimmed">
                  <Time at={at} /> by <Actor actor={by} />
                </Text>
                {reason === null ? null : <Text size="sm">{reason}</Text>}
                {shipment === null ? null : <Tracking {...shipment} />}
              </li>
            ))}
          </ol>
        )}
      </Read>
    </section>
  );
}

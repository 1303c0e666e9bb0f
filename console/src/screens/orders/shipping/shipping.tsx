/** Ships many approved orders with their tracking numbers: a field each, for a scanner, which ends a number with Enter. */
import { Anchor, Button, Group, Table, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { memo, type RefObject, useCallback, useRef, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { Order } from '../../../../../client/src/index.ts';
import { useCurd } from '../../../data/queries.ts';
import { invalidate } from '../../../parts/action.ts';
import { Bulk } from '../../../parts/dialogs/bulk.tsx';
import { Empty, PageTitle, Read } from '../../../parts/page.tsx';
import { selectedMax } from '../../../parts/select-all.ts';
import { showNumber } from '../../../parts/text/format.ts';
import { heldOf } from '../held.ts';
import { linesOf } from '../lines.ts';
import { Recipient } from '../order-fields.tsx';
import { idsIn, readOrders } from './read-orders.ts';
import { fillFrom, numbersIn, readCarrier, shipmentOf, storeCarrier } from './tracking.ts';

const nameOf = ({ id }: Order) => `Order ${id}`;

/** Shows the orders that the URL names, or else the approved ones, the oldest first. */
export function Shipping() {
  const curd = useCurd();
  const [search] = useSearchParams();
  const ids = idsIn(search);
  // Orders that are shipped meanwhile, here or elsewhere, do not disappear below the scanner: no event makes them stale.
  const [kept, setKept] = useState<readonly Order[] | null>(null);
  const {
    data: read,
    error,
    refetch,
  } = useQuery({
    queryKey: ['shipping', ids],
    staleTime: 0,
    gcTime: 0,
    queryFn: async ({ signal }) => {
      if (ids.length > 0) {
        return (await readOrders(curd, ids, signal)).filter(({ status }) => status === 'approved');
      }
      const approved: Order[] = [];
      const list = curd.orders.list({ status: ['approved'], sort: 'createdAt', limit: 100 }, { signal });
      for await (const order of list.take(selectedMax)) {
        approved.push(order);
      }
      return approved;
    },
  });
  if (kept === null && read !== undefined) {
    setKept(read);
  }
  const heading = <PageTitle title="Ship with tracking" />;
  return (
    <Read
      of={{ data: kept ?? read, error: kept === null ? error : null, refetch }}
      what="the orders"
      heading={heading}
    >
      {(orders) =>
        orders.length === 0 ? (
          <>
            {heading}
            <Empty title="No approved orders">
              <Anchor component={Link} href="/orders">
                All orders
              </Anchor>
            </Empty>
          </>
        ) : (
          <Fields orders={orders} />
        )
      }
    </Read>
  );
}

/** The other order with the same number, by the id of each: a parcel that was scanned twice. */
function findRepeated(numbers: ReadonlyMap<number, string>): ReadonlyMap<number, number> {
  const firstOf = new Map<string, number>();
  const repeated = new Map<number, number>();
  for (const [id, text] of numbers) {
    const number = text.trim();
    const first = firstOf.get(number);
    if (number === '') {
      continue;
    }
    if (first === undefined) {
      firstOf.set(number, id);
    } else {
      repeated.set(id, first);
    }
  }
  return repeated;
}

function Fields({ orders }: { readonly orders: readonly Order[] }) {
  const curd = useCurd();
  const [, navigate] = useLocation();
  const [fields, setFields] = useState(readCarrier);
  const [numbers, setNumbers] = useState<ReadonlyMap<number, string>>(new Map());
  const [isShipping, setShipping] = useState(false);
  /** The order whose repeated number was pointed out. */
  const [asked, setAsked] = useState<number | null>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const ids = orders.map(({ id }) => id);
  const filled = orders.filter(({ id }) => (numbers.get(id) ?? '').trim() !== '');
  const repeated = findRepeated(numbers);

  const focus = (index: number) => {
    const inputs = body.current?.querySelectorAll('input');
    (inputs?.[index] ?? document.querySelector<HTMLElement>('[data-ship]'))?.focus();
  };
  const actions = useRef<RowActions>(null as never);
  actions.current = {
    change: (id, number) => setNumbers(new Map(numbers).set(id, number)),
    type: (id) => {
      // A parcel may be scanned once more by mistake, which keeps nothing.
      if (asked === id) {
        setAsked(null);
      }
    },
    next: (id, number, input) => {
      const all = new Map(numbers).set(id, number);
      setNumbers(all);
      if (findRepeated(all).has(id) && asked !== id) {
        // What is scanned next takes the place of the number.
        setAsked(id);
        input.select();
      } else {
        focus(ids.indexOf(id) + 1);
      }
    },
    paste: (id, pasted) => {
      const index = ids.indexOf(id);
      setNumbers(fillFrom(numbers, ids, index, pasted));
      focus(Math.min(index + pasted.length, ids.length));
    },
  };
  const ship = useCallback(
    ({ id }: Order) => {
      heldOf(id)?.undo();
      return curd.orders.ship(id, shipmentOf(fields, numbers.get(id) ?? ''));
    },
    [curd, fields, numbers],
  );

  return (
    <>
      <PageTitle title="Ship with tracking">
        {repeated.size === 0 ? null : (
          <Text size="sm" c="var(--curd-late)" role="status">
            {repeated.size === 1 ? '1 number is there twice' : `${repeated.size} numbers are there twice`}
          </Text>
        )}
        <Text size="sm" c="dimmed" className="figure">
          {showNumber(filled.length)} of {showNumber(orders.length)}
        </Text>
        <Button
          size="xs"
          data-ship
          disabled={filled.length === 0}
          onClick={() => {
            storeCarrier(fields);
            setShipping(true);
          }}
        >
          Ship {showNumber(filled.length)}
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
          {orders.map((order, index) => (
            <Row
              key={order.id}
              order={order}
              number={numbers.get(order.id) ?? ''}
              other={repeated.get(order.id) ?? null}
              isAsked={asked === order.id}
              isFirst={index === 0}
              actions={actions}
            />
          ))}
        </Table.Tbody>
      </Table>
      {isShipping ? (
        <Bulk
          title={`Ship ${showNumber(filled.length)} ${filled.length === 1 ? 'order' : 'orders'}`}
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

interface RowActions {
  readonly change: (id: number, number: string) => void;
  /** Called for each character. */
  readonly type: (id: number) => void;
  /** Enter, with which a scanner ends a number. */
  readonly next: (id: number, number: string, input: HTMLInputElement) => void;
  readonly paste: (id: number, numbers: readonly string[]) => void;
}

interface RowProps {
  readonly order: Order;
  readonly number: string;
  /** The order that has the same number. */
  readonly other: number | null;
  readonly isAsked: boolean;
  readonly isFirst: boolean;
  readonly actions: RefObject<RowActions>;
}

/**
 * The row is made of plain elements and keeps what is typed to itself: a scanner types faster than a thousand rows are
 * rendered. The list gets the number with Enter, when the field is left, and when it is begun or emptied.
 */
const Row = memo(function Row({ order, number, other, isAsked, isFirst, actions }: RowProps) {
  const { id } = order;
  const hint = `repeated-${id}`;
  const [text, setText] = useState(number);
  const [known, setKnown] = useState(number);
  // A column was pasted.
  if (known !== number) {
    setKnown(number);
    setText(number);
  }
  const keep = () => {
    if (text !== number) {
      actions.current.change(id, text);
    }
  };
  return (
    <tr>
      <td className="ship-cell">
        <Link className="ship-order" href={`/orders/${id}`} tabIndex={-1}>
          {id}
        </Link>
      </td>
      <td className="ship-cell">
        <Recipient order={order} />
      </td>
      <td className="ship-cell wide-only">{linesOf(order)}</td>
      <td className="ship-cell">
        <input
          className="text-field"
          aria-label={`Tracking number of order ${id}`}
          aria-describedby={other === null ? undefined : hint}
          // biome-ignore lint/a11y/noAutofocus: the screen is for scanning.
          autoFocus={isFirst}
          autoComplete="off"
          maxLength={80}
          value={text}
          onChange={({ currentTarget: { value } }) => {
            setText(value);
            actions.current.type(id);
            if ((value === '') !== (number === '')) {
              actions.current.change(id, value);
            }
          }}
          onBlur={keep}
          onKeyDown={(event) => {
            if (event.key === 'Enter') {
              event.preventDefault();
              actions.current.next(id, text, event.currentTarget);
            }
          }}
          onPaste={(event) => {
            const pasted = numbersIn(event.clipboardData.getData('text'));
            if (pasted.length > 1) {
              event.preventDefault();
              actions.current.paste(id, pasted);
            }
          }}
        />
        {other === null ? null : (
          <div className="waiting" id={hint} role={isAsked ? 'alert' : undefined}>
            The number of order {other}, too{isAsked ? '. Enter again keeps it.' : ''}
          </div>
        )}
      </td>
    </tr>
  );
});

/** What cards, rows and the page of an order show in the same way. */
import { Badge } from '@mantine/core';
import { Fragment } from 'react';
import type { Order } from '../../../../client/src/index.ts';
import { countryName } from '../../parts/text/countries.ts';
import { useNames } from '../../parts/text/names.ts';
import { Age } from '../../parts/text/time.tsx';
import { useHeld } from './held.ts';
import type { Status } from './transitions.ts';

const dayMs = 86_400_000;

const colors: Readonly<Record<Status, string>> = {
  placed: 'blue',
  approved: 'rind',
  shipped: 'grape',
  delivered: 'teal',
  cancelled: 'gray',
};

export function StatusBadge({ order: { status, breakdown } }: { readonly order: Order }) {
  const isReady = status === 'shipped' && breakdown?.delivery?.kind === 'pickup';
  return (
    <Badge color={colors[status]} variant="outline" size="sm" className="status" tt="none">
      {isReady ? 'ready for pickup' : status}
    </Badge>
  );
}

/** Placed or approved for more than a day. */
export function isWaiting({ status, updatedAt }: Order, now = Date.now()): boolean {
  return (status === 'placed' || status === 'approved') && now - Date.parse(updatedAt) > dayMs;
}

/** Approved, and the day on which it should have been shipped is over. */
export function isLate({ status, shipDate }: Order, now = Date.now()): boolean {
  return status === 'approved' && shipDate !== null && Date.parse(shipDate) < now;
}

/** A cheese had no price when the order was placed: an operator approves it. */
export function hasNoPrice({ items }: Order): boolean {
  return items.some(({ pricePerKg }) => pricePerKg === 0);
}

/** "approved 2 days ago" in words, beside the color. @param isShort in rows: of a late order only that it is late */
export function Warnings({ order, isShort = false }: { readonly order: Order; readonly isShort?: boolean }) {
  const isLateOrder = isLate(order);
  const to = useHeld(order.id)?.to;
  if (to !== undefined && to !== order.status) {
    return <span className="waiting">will be {to}</span>;
  }
  return (
    <>
      {isLateOrder ? (
        <Badge color="red" variant="outline" size="sm" tt="none" className="status">
          late
        </Badge>
      ) : null}
      {isWaiting(order) && !(isShort && isLateOrder) ? (
        <span className="waiting">
          {isShort ? '' : order.status} <Age at={order.updatedAt} />
        </span>
      ) : null}
      {order.status === 'placed' && hasNoPrice(order) ? <span className="waiting">no price</span> : null}
    </>
  );
}

/** First and last name; null if no customer placed the order, and until it is read. */
function useCustomerName(id: number): string | null {
  return useNames([`order-customer:${id}`])[0] ?? null;
}

/** The name in the shipping address, or the customer. */
export function useRecipient({ id, shippingAddress }: Order): string | null {
  const customer = useCustomerName(id);
  return shippingAddress.name ?? customer;
}

export function CustomerName({ id }: { readonly id: number }) {
  return useCustomerName(id);
}

/** Recipient and town of an order: "Émile Brûlé, Bern, Switzerland". */
export function Recipient({ order }: { readonly order: Order }) {
  const { city, country } = order.shippingAddress;
  return [useRecipient(order), city, countryName(country)].filter(Boolean).join(', ');
}

/** The lines of the shipping address below the name. */
export function ShippingAddress({ order }: { readonly order: Order }) {
  const { company, street, street2, zipCode, city, state, country } = order.shippingAddress;
  return (
    <>
      {[company, street, street2]
        .filter((line) => line !== undefined)
        .map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity.
          <Fragment key={index}>
            {line}
            <br />
          </Fragment>
        ))}
      {[zipCode, city].filter(Boolean).join(' ')}
      {state === null ? '' : `, ${state}`}
      <br />
      {countryName(country)}
    </>
  );
}

/** A card of the board. A key renders only the cards that change, and plain elements: there may be 250. */
import { Cross2Icon } from '@radix-ui/react-icons';
import { memo, type RefObject, useLayoutEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { Order } from '../../../../client/src/index.ts';
import { showMoney } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import { useHeld } from './held.ts';
import { describeExtras, linesOf } from './lines.ts';
import { hasNoPrice, isWaiting, Recipient, Warnings } from './order-fields.tsx';
import { cancel, nextOf, type Transition } from './transitions.ts';

export interface CardActions {
  readonly select: (order: Order) => void;
  readonly toggle: (order: Order) => void;
  readonly request: (transition: Transition, order: Order) => void;
}

interface Props {
  readonly order: Order;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  readonly actions: RefObject<CardActions>;
}

export const Card = memo(function Card({ order, isCurrent, isSelected, actions }: Props) {
  const link = useRef<HTMLAnchorElement>(null);
  const held = useHeld(order.id);
  const next = held === undefined ? nextOf(order.status) : undefined;
  const isUrgent = isWaiting(order) || (order.status === 'placed' && hasNoPrice(order));

  // Runs before the next key is handled: a late focus would select this card again after a key has moved on.
  useLayoutEffect(() => {
    const { activeElement } = document;
    const isFree =
      activeElement === null || activeElement === document.body || activeElement.closest('.board') !== null;
    if (isCurrent && isFree && document.querySelector('[role=dialog]') === null) {
      link.current?.focus({ preventScroll: true });
      link.current?.scrollIntoView({ block: 'nearest' });
    }
  }, [isCurrent]);

  return (
    <li
      className="order-card"
      data-order={order.id}
      data-current={isCurrent || undefined}
      data-urgent={isUrgent || undefined}
      onFocus={() => actions.current.select(order)}
    >
      <div className="card-line">
        <input
          type="checkbox"
          className="check"
          aria-label={`Select order ${order.id}`}
          checked={isSelected}
          onChange={() => actions.current.toggle(order)}
          tabIndex={-1}
        />
        <Link ref={link} href={`/orders/${order.id}`} className="order-id" aria-label={`Order ${order.id}`}>
          {order.id}
        </Link>
        <span className="order-age">
          <Time at={order.createdAt} isRelative />
        </span>
      </div>
      <div className="order-to">
        <Recipient order={order} />
      </div>
      <div className="order-lines">{linesOf(order)}</div>
      <div className="order-to">{describeExtras(order)}</div>
      <div className="card-line">
        <span className="order-total">{showMoney(order.total)}</span>
        <Warnings order={order} />
        <span className="card-actions">
          {cancel.from.includes(order.status) ? (
            <button
              type="button"
              className="mini-button"
              data-quiet
              aria-label={`Cancel order ${order.id}`}
              title="Cancel"
              onClick={() => actions.current.request(cancel, order)}
            >
              <Cross2Icon aria-hidden="true" />
            </button>
          ) : null}
          {held?.isSent === false ? (
            <button
              type="button"
              className="mini-button"
              aria-label={`Undo: order ${order.id} will be ${held.to}`}
              onClick={held.undo}
            >
              Undo
            </button>
          ) : next === undefined ? null : (
            <button
              type="button"
              className="mini-button"
              aria-label={`${next.verb} order ${order.id}`}
              onClick={() => actions.current.request(next, order)}
            >
              {next.verb}
            </button>
          )}
        </span>
      </div>
    </li>
  );
});

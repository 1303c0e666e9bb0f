/** Events of orders. */
import { defineEvent } from '../event-log/define.ts';
import { int64 } from '../schema/parts.ts';
import { Order, Timeline } from './schemas.ts';
import type { OrderStatus } from './transitions/order-status.ts';

const { status, total } = Order.properties;
const { reason } = Timeline.properties.items.items.properties;

/** The order at this transition. Neither the shipping address nor notes: events outlive the customer. */
const order = {
  type: 'object',
  required: ['id', 'status', 'total', 'reason'],
  properties: {
    id: int64,
    status,
    total,
    reason: { ...reason, description: 'Why the server or an operator made the transition; null without' },
  },
} as const;

/** The example of a type has the status that the order reached. */
const withExample = (reached: OrderStatus) =>
  ({ ...order, examples: [{ id: 31, status: reached, total: 709.5, reason: null }] }) as const;

/** Transitions of the subject `order:31`, by the status that the order reached. */
export const orderEvents = {
  placed: defineEvent('order.placed', 'An order was placed', {
    ...withExample('placed'),
    properties: { ...order.properties, breakdown: Order.properties.breakdown },
  }),
  approved: defineEvent('order.approved', 'An order was approved', withExample('approved')),
  shipped: defineEvent('order.shipped', 'An order was shipped', withExample('shipped')),
  delivered: defineEvent('order.delivered', 'An order was delivered', withExample('delivered')),
  cancelled: defineEvent('order.cancelled', 'An order was cancelled', withExample('cancelled')),
};

/** Neither carrier nor tracking, which an operator writes: events outlive the customer. */
export const shipmentChanged = defineEvent(
  'order.shipment_changed',
  'The carrier or the tracking of an order that has shipped was changed',
  {
    type: 'object',
    required: ['id'],
    properties: { id: int64 },
    examples: [{ id: 31 }],
  } as const,
);

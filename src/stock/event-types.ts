/** Events of stock. */
import { defineEvent } from '../event-log/define.ts';
import { int64 } from '../schema/parts.ts';
import { adjustmentReasons, Stock } from './schemas.ts';

const { onHand, reserved, available, lowAt } = Stock.properties;

const level = {
  type: 'object',
  required: ['cheeseId', 'available', 'lowAt'],
  properties: { cheeseId: int64, available, lowAt },
} as const;

/** @param kilograms available in the example */
const withExample = (kilograms: number) =>
  ({ ...level, examples: [{ cheeseId: 12, available: kilograms, lowAt: 10 }] }) as const;

/** Events of the subject `stock:12`. Reservations, and what ends them, have the events of their order. */
export const stockEvents = {
  adjusted: defineEvent('stock.adjusted', 'Stock was counted or adjusted, or its tracking began or ended', {
    type: 'object',
    required: ['cheeseId', 'onHand', 'reserved', 'available', 'deltaKg', 'reason'],
    properties: {
      cheeseId: int64,
      onHand,
      reserved,
      available,
      deltaKg: { ...available, description: 'The change of onHand' },
      reason: { type: 'string', enum: [...adjustmentReasons, 'tracking_started', 'tracking_ended'] },
    },
    examples: [{ cheeseId: 12, onHand: 50, reserved: 12, available: 38, deltaKg: 20, reason: 'received' }],
  }),
  low: defineEvent(
    'stock.low',
    'The available kilograms of a cheese fell to lowAt or below',
    withExample(10),
  ),
  depleted: defineEvent(
    'stock.depleted',
    'The available kilograms of a cheese became too few for an order',
    withExample(0),
  ),
};

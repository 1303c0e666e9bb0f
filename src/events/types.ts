/** The closed list of types of events. */
import { accountEvents, keyEvents } from '../auth/keys/event-types.ts';
import { approvalEvents, clientEvents } from '../auth/oauth/event-types.ts';
import { cheeseEvents } from '../cheeses/event-types.ts';
import { customerEvents } from '../customers/event-types.ts';
import { defineEvent, type EventDefinition } from '../event-log/define.ts';
import { shopEventWithdrawn } from '../event-log/withdrawn.ts';
import { imageEvents } from '../images/event-types.ts';
import { orderEvents, shipmentChanged } from '../orders/event-types.ts';
import { stockEvents } from '../stock/event-types.ts';
import { webhookEvents } from '../webhooks/event-types.ts';

/** `curd reset` deleted everything before it. */
export const shopReset = defineEvent(
  'shop.reset',
  'The shop was reset: all cheeses, orders and customers were deleted',
  {
    type: 'object',
    required: [],
    properties: {},
    examples: [{}],
  },
);

/** All definitions, in the order of the documentation. */
export const eventDefinitions: readonly EventDefinition[] = [
  ...Object.values(cheeseEvents),
  ...Object.values(imageEvents),
  ...Object.values(orderEvents),
  shipmentChanged,
  ...Object.values(stockEvents),
  ...Object.values(customerEvents),
  ...Object.values(keyEvents),
  ...Object.values(accountEvents),
  ...Object.values(clientEvents),
  ...Object.values(approvalEvents),
  ...Object.values(webhookEvents),
  shopReset,
  shopEventWithdrawn,
];

/** The names of all types. */
export const eventTypes: readonly string[] = eventDefinitions.map(({ type }) => type);

/** Whether a filter is the name of a type, or `cheese.*` for an existing kind. */
export function isKnownType(type: string): boolean {
  return type.endsWith('.*')
    ? eventTypes.some((one) => one.startsWith(type.slice(0, -1)))
    : eventTypes.includes(type);
}

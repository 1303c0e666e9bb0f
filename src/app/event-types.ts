/** The closed list of types of events: each area defines its own. */
import { accountEvents, keyEvents } from '../auth/keys/event-types.ts';
import { approvalEvents, clientEvents } from '../auth/oauth/event-types.ts';
import { cheeseEvents } from '../cheeses/event-types.ts';
import { customerEvents } from '../customers/event-types.ts';
import { methodChanged, methodCreated, methodDeleted } from '../delivery/event-types.ts';
import { discountChanged, discountCreated, discountDeleted } from '../discounts/event-types.ts';
import { shopEventWithdrawn } from '../event-log/define.ts';
import { EventTypes } from '../event-log/event-types.ts';
import { imageEvents } from '../images/event-types.ts';
import { orderEvents, shipmentChanged } from '../orders/event-types.ts';
import { shopReset } from '../sandbox/event-types.ts';
import { shopChanged } from '../shop/event-types.ts';
import { stockEvents } from '../stock/event-types.ts';
import { rateChanged, rateCreated, rateDeleted } from '../tax/event-types.ts';
import { webhookEvents } from '../webhooks/event-types.ts';

/** This order is also that of the OpenAPI document. */
export const eventTypes = new EventTypes([
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
  methodCreated,
  methodChanged,
  methodDeleted,
  rateCreated,
  rateChanged,
  rateDeleted,
  discountCreated,
  discountChanged,
  discountDeleted,
  shopChanged,
  shopReset,
  shopEventWithdrawn,
]);

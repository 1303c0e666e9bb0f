/** The routes of transitions that operators make. */
import { anyOf, oauth } from '../../access/access.ts';
import {
  conflictResponse,
  preconditionFailedResponse,
  unprocessableResponse,
} from '../../http/responses/error-responses.ts';
import { entityResponse, toPrecondition } from '../../http/responses/etag.ts';
import { type Route, route } from '../../http/route.ts';
import { noOrder, oneOrder, orderId, orderIfMatch, storeTag } from '../routes.ts';
import { Order } from '../schemas.ts';
import type { OrderService } from '../service.ts';
import { ShipmentInput } from '../shipments/schemas.ts';

export function transitionRoutes(orders: OrderService): Route[] {
  return [
    transitionRoute('approve', 'Approve an order', 'Its cheeses must be available.', orders.approve),
    route({
      ...shipping,
      body: ShipmentInput,
      bodyIsOptional: true,
      responses: { ...shipping.responses, ...unprocessableResponse },
      handle: ({ params, headers, body, withIdempotency }) =>
        withIdempotency(
          (context) => orders.ship(context, orderId(params), toPrecondition(headers['if-match']), body),
          (order) => entityResponse(order, 200),
        ),
    }),
    transitionRoute(
      'deliver',
      'Mark a shipped order as delivered',
      "Counts for the customer's tier.",
      orders.deliver,
    ),
  ];
}

/** Test orders whose status allows the transition. */
const examples = { approve: 1, ship: 3, deliver: 5 };
/** Changes of the example order by the transition. */
const afterTransition = {
  approve: { status: 'approved', updatedAt: '2026-01-15T10:05:31.480Z' },
  ship: { status: 'shipped', updatedAt: '2026-01-16T08:00:12.007Z' },
  deliver: { status: 'delivered', updatedAt: '2026-01-17T15:22:48.951Z' },
};

/** What the routes of transitions that operators make have in common. */
function transitionOf(name: keyof typeof examples, summary: string, description: string) {
  return {
    method: 'POST',
    path: `/store/order/:orderId/${name}`,
    operationId: `${name}Order`,
    examples: { orderId: examples[name] },
    tag: storeTag,
    summary,
    description,
    access: anyOf(oauth('admin')),
    headers: orderIfMatch,
    responses: {
      200: {
        ...oneOrder('The order as it is now'),
        example: { ...Order.examples[0], shipDate: '2026-01-16T08:00:12.007Z', ...afterTransition[name] },
      },
      ...noOrder,
      ...conflictResponse('The status of the order does not allow this transition'),
      ...preconditionFailedResponse,
    },
  } as const;
}

const shipping = transitionOf(
  'ship',
  'Ship an approved order',
  'shipDate becomes now. The body can state the carrier and the tracking. PUT /v2/store/order/{orderId}/shipment changes them until the order is delivered.',
);

/** A transition without a body. */
function transitionRoute(
  name: 'approve' | 'deliver',
  summary: string,
  description: string,
  verb: OrderService[typeof name],
): Route {
  return route({
    ...transitionOf(name, summary, description),
    handle: ({ params, headers, withIdempotency }) =>
      withIdempotency(
        (context) => verb(context, orderId(params), toPrecondition(headers['if-match'])),
        (order) => entityResponse(order, 200),
      ),
  });
}

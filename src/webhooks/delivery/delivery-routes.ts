/** The delivery log of webhook endpoints over HTTP, and sending events again. */
import { anyOf, oauth } from '../../access/access.ts';
import { parsePathId } from '../../http/pipeline/path-id.ts';
import {
  conflictResponse,
  goneResponse,
  notFoundResponse,
  unprocessableResponse,
} from '../../http/responses/error-responses.ts';
import { listRoute } from '../../http/responses/list-route.ts';
import { uncached } from '../../http/responses/response.ts';
import { type Route, route } from '../../http/route.ts';
import { endpointId } from '../routes.ts';
import { type DeliveryLog, noDelivery } from './deliveries.ts';
import {
  DeliverNowResult,
  deliveryListQuery,
  Replay,
  ReplayResult,
  RetryResult,
  WebhookDelivery,
  WebhookDeliveryList,
} from './delivery-schemas.ts';
import type { ReplayService } from './replays.ts';

const tag = 'Webhooks';
const access = anyOf(oauth('admin'));
const missingEndpoint = notFoundResponse('There is no such webhook endpoint');
const missing = notFoundResponse('There is no such delivery');

interface Dependencies {
  readonly deliveries: DeliveryLog;
  readonly replays: ReplayService;
  /** Lets the worker look at an endpoint at once. */
  readonly wake: (endpointId: number) => void;
}

export function deliveryRoutes({ deliveries, replays, wake }: Dependencies): Route[] {
  return [
    route({
      method: 'POST',
      path: '/webhook-endpoints/:endpointId/replay',
      operationId: 'replayWebhookEndpoint',
      tag,
      summary: 'Send a range of events again',
      description:
        'Queues the events of the types that the endpoint gets after `since`, in order, with the same ids and the header `Curd-Replay: true`. At most 10,000 deliveries of an endpoint can wait.',
      access,
      replay: 'beforeWork',
      body: Replay,
      responses: {
        202: { description: 'The deliveries are queued', schema: ReplayResult },
        ...missingEndpoint,
        ...conflictResponse('The endpoint is disabled'),
        ...goneResponse('The events after `since` have expired, or the position is not in the log any more'),
        ...unprocessableResponse,
      },
      handle: ({ params, body, withIdempotency }) =>
        withIdempotency(
          async (context) => {
            const id = endpointId(params);
            const queued = await replays.replay(context, id, body);
            wake(id);
            return queued;
          },
          (count) => uncached(202, { deliveries: count }),
        ),
    }),
    route({
      method: 'POST',
      path: '/webhook-endpoints/:endpointId/deliver',
      operationId: 'deliverWebhookEndpoint',
      tag,
      summary: 'Deliver now what waits for an endpoint',
      description:
        'Ends a pause, and makes due all deliveries that wait for their next attempt. Each is still sent after the earlier ones of its subject. Up to fifty such attempts of a delivery do not count as one of the ten. Together with test pings, five a minute for an endpoint.',
      access,
      responses: {
        202: { description: 'The deliveries are due', schema: DeliverNowResult },
        ...missingEndpoint,
        ...conflictResponse('The endpoint is disabled'),
      },
      handle: ({ params, withIdempotency }) =>
        withIdempotency(
          async (context) => {
            const id = endpointId(params);
            const count = await replays.deliverNow(context, id);
            wake(id);
            return count;
          },
          (count) => uncached(202, { deliveries: count }),
        ),
    }),
    listRoute({
      path: '/webhook-endpoints/:endpointId/deliveries',
      operationId: 'listWebhookDeliveries',
      tag,
      summary: 'List the deliveries of a webhook endpoint, the newest first',
      description:
        'A delivery is one event for one endpoint. Deliveries are deleted some days after they ended.',
      access,
      query: deliveryListQuery,
      page: { description: 'A page of deliveries', schema: WebhookDeliveryList },
      errors: missingEndpoint,
      list: ({ params, query }) => deliveries.list(endpointId(params), query),
    }),
    route({
      method: 'GET',
      path: '/webhook-deliveries/:deliveryId',
      operationId: 'getWebhookDelivery',
      tag,
      summary: 'Read a delivery with every attempt',
      description:
        'Each attempt has its time, its duration, and the status or the error. A response is included up to its first 1,024 bytes.',
      access,
      responses: { 200: { description: 'The delivery', schema: WebhookDelivery }, ...missing },
      handle: async ({ params }) => uncached(200, await deliveries.find(idOf(params))),
    }),
    route({
      method: 'POST',
      path: '/webhook-deliveries/:deliveryId/retry',
      operationId: 'retryWebhookDelivery',
      tag,
      summary: 'Send the event of a delivery again',
      description:
        'A new delivery with the same `webhook-id` and the header `Curd-Replay: true`. A delivery of the event that waits is due at once instead, and a pause of the endpoint ends.',
      access,
      responses: {
        202: { description: 'The delivery is queued, or due', schema: RetryResult },
        ...missing,
        ...conflictResponse(
          'The event is being sent, it has expired, the endpoint is disabled, or too many deliveries wait for it',
        ),
      },
      handle: ({ params, withIdempotency }) =>
        withIdempotency(
          async (context) => {
            const queued = await replays.retry(context, idOf(params));
            wake(queued.endpointId);
            return queued;
          },
          ({ deliveryId }) => uncached(202, { deliveryId }),
        ),
    }),
  ];
}

function idOf(params: Readonly<Record<string, string>>): number {
  return parsePathId(params.deliveryId, noDelivery);
}

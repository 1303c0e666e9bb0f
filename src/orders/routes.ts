/** The store over HTTP: everything under /store. */

import { anyOf, apiKey, oauth } from '../access/access.ts';
import type { CheeseLists } from '../cheeses/listing/cheese-lists.ts';
import type { CustomerFinder } from '../customers/customer-finder.ts';
import { Customer } from '../customers/schemas.ts';
import type { EventService } from '../event-log/reading/service.ts';
import { waitParameter } from '../events/list-schemas.ts';
import type { LiveConnections } from '../events/live-connections.ts';
import { parsePathId } from '../http/pipeline/path-id.ts';
import {
  badRequestResponse,
  conflictResponse,
  notFoundResponse,
  preconditionFailedResponse,
  unprocessableResponse,
} from '../http/responses/error-responses.ts';
import {
  entityResponse,
  etagHeader,
  ifMatchFor,
  matchesIfNoneMatch,
  toPrecondition,
} from '../http/responses/etag.ts';
import { listRoute } from '../http/responses/list-route.ts';
import { type Route, route } from '../http/route.ts';
import type { Versioned } from '../versioned.ts';
import { storeListQuery, toOrderRequest } from './lists/list-query.ts';
import type { OrderReader } from './lists/order-reader.ts';
import { maxTotalHeader, OrderInput, orderPlacementQuery, parseMaxCents } from './placing/schemas.ts';
import { Inventory, Order, OrderList, Timeline } from './schemas.ts';
import type { OrderService } from './service.ts';

export const storeTag = 'Store';
export const noOrder = notFoundResponse('There is no such order');
export const orderIfMatch = ifMatchFor('order');
export const oneOrder = (description: string) => ({ description, schema: Order });
interface Dependencies {
  readonly cheeseLists: Pick<CheeseLists, 'countByStatus'>;
  readonly orders: OrderService;
  readonly orderReader: OrderReader;
  readonly customerFinder: CustomerFinder;
  readonly events: EventService;
  readonly connections: LiveConnections;
}

export function storeRoutes(dependencies: Dependencies): Route[] {
  const { cheeseLists, orders, orderReader, customerFinder, events, connections } = dependencies;
  return [
    route({
      method: 'GET',
      path: '/store/inventory',
      operationId: 'getInventory',
      tag: storeTag,
      summary: 'Count cheeses by status',
      description:
        'The number of cheeses in each of the three statuses, not kilograms. For kilograms use GET /v2/stock.',
      access: anyOf(apiKey, oauth('read:cheeses')),
      permitsConfined: true,
      responses: { 200: { description: 'How many cheeses are in each status', schema: Inventory } },
      handle: async () => ({ status: 200, body: await cheeseLists.countByStatus() }),
    }),
    listRoute({
      path: '/store/orders',
      operationId: 'listOrders',
      tag: storeTag,
      summary: 'List orders',
      description:
        "An API key alone lists all orders. With a customer's session or token beside the key, only that customer's orders are listed. A token lists the orders of its customer or client. `customerId`, `placedBy`, `country` and `cheeseId` are for callers that see all orders.",
      access: anyOf(apiKey, oauth('read:orders')),
      permitsConfined: true,
      publishable: 'withCustomer',
      query: storeListQuery,
      page: { description: 'A page of orders', schema: OrderList },
      cacheControl: 'private, no-cache',
      list: ({ query, principal }) => orderReader.list(principal, toOrderRequest(query)),
    }),
    route({
      method: 'POST',
      path: '/store/order',
      operationId: 'placeOrder',
      tag: storeTag,
      summary: 'Place an order',
      description:
        "Every cheese must be available; otherwise nothing is ordered. Names and prices are the current ones. The server approves the order after a delay, unless a cheese has no price; read the order again to see its status. With a customer's session in Authorization beside the key, the order is that customer's. An operator places an order for a customer with `customerId`.",
      access: anyOf(oauth('write:orders')),
      permitsConfined: true,
      publishable: 'withCustomer',
      query: orderPlacementQuery,
      queryFailsAs: 'validation',
      headers: maxTotalHeader,
      acceptsClientIp: true,
      body: OrderInput,
      storesPlainResponse: ({ customerId }) => customerId === undefined,
      responses: {
        201: oneOrder('The order, placed'),
        ...notFoundResponse('There is no customer with the id `customerId`'),
        ...conflictResponse(
          'The total is above Curd-Max-Total, or the first request with this Idempotency-Key is still running',
        ),
        ...unprocessableResponse,
      },
      handle: ({ query, body, headers, principal, visitorIp, withIdempotency }) =>
        withIdempotency(
          (context) =>
            orders.place(context, principal, body, {
              ...query,
              maxCents: parseMaxCents(headers),
              visitorIp: visitorIp(),
            }),
          (order) => ({
            ...entityResponse(order, 201),
            headers: { ...etagHeader(order), Location: `/v2/store/order/${order.id}` },
          }),
        ),
    }),
    route({
      method: 'GET',
      path: '/store/order/:orderId',
      operationId: 'getOrder',
      tag: storeTag,
      summary: 'Read an order',
      description:
        "Outside of production, orders 1 to 10 are test orders, two of each status. A key beside a customer's session or token reads that customer's orders only. With `wait` and If-None-Match, the request waits until the order differs from the ETag.",
      access: anyOf(apiKey, oauth('read:orders')),
      permitsConfined: true,
      publishable: 'withCustomer',
      query: {
        wait: { ...waitParameter, description: 'Seconds to wait for a change; needs If-None-Match' },
      },
      responses: {
        200: oneOrder('The order'),
        ...badRequestResponse('A parameter is not valid'),
        ...noOrder,
      },
      handle: async (request) => {
        const {
          params,
          query: { wait },
          headers,
          principal,
        } = request;
        const id = orderId(params);
        const read = () => orders.find(id, principal);
        const known = headers['if-none-match'];
        if (wait === 0 || known === undefined) {
          return entityResponse(await read(), 200);
        }
        const isKnown = (order: Versioned) => matchesIfNoneMatch(known, etagHeader(order).ETag);
        const order = await connections.longPoll(request, (signal) =>
          waitForOrder(events, { id, waitMs: wait * 1000, read, isKnown, signal }),
        );
        return entityResponse(order, 200);
      },
    }),
    route({
      method: 'DELETE',
      path: '/store/order/:orderId',
      operationId: 'cancelOrder',
      examples: { orderId: 2 },
      tag: storeTag,
      summary: 'Cancel an order that has not shipped',
      description:
        "It can still be read. Cancelling it again changes nothing. A key beside a customer's session or token cancels that customer's orders only.",
      access: anyOf(oauth('write:orders')),
      permitsConfined: true,
      publishable: 'withCustomer',
      headers: orderIfMatch,
      responses: {
        204: { description: 'The order is cancelled' },
        ...noOrder,
        ...conflictResponse('The order has shipped'),
        ...preconditionFailedResponse,
      },
      handle: async ({ params, headers, principal, context }) => {
        const precondition = toPrecondition(headers['if-match']);
        await orders.cancel(context, orderId(params), principal, precondition);
        return { status: 204 };
      },
    }),
    route({
      method: 'GET',
      path: '/store/order/:orderId/timeline',
      operationId: 'getOrderTimeline',
      tag: storeTag,
      summary: 'Read the timeline of an order',
      description: 'Every transition of the order, the oldest first: when, by whom, and why.',
      access: anyOf(apiKey, oauth('read:orders')),
      permitsConfined: true,
      publishable: 'withCustomer',
      responses: { 200: { description: 'The transitions so far', schema: Timeline }, ...noOrder },
      handle: async ({ params, principal }) => ({
        status: 200,
        headers: { 'Cache-Control': 'private, no-cache' },
        body: { items: await orderReader.timeline(orderId(params), principal) },
      }),
    }),
    route({
      method: 'GET',
      path: '/store/order/:orderId/customer',
      operationId: 'getOrderCustomer',
      examples: { orderId: 11 },
      tag: storeTag,
      summary: 'Read the customer of an order',
      description:
        'An order that a key or client placed without a customer has none: then the response is 204.',
      access: anyOf(apiKey, oauth('admin')),
      permitsConfined: true,
      responses: {
        200: { description: 'The customer', schema: Customer },
        204: { description: 'The order has no customer, or the customer was deleted' },
        ...noOrder,
      },
      handle: async ({ params, principal }) => {
        const id = await orderReader.customerOf(orderId(params), principal);
        const customer = id === null ? undefined : await customerFinder.findById(id);
        return customer === undefined ? { status: 204 } : entityResponse(customer, 200);
      },
    }),
  ];
}

export function orderId(params: Readonly<Record<string, string>>): number {
  return parsePathId(params.orderId, 'There is no such order.');
}

/** Test orders and orders of deleted customers change without an event in the log: the order is read that often. */
const rereadMs = 1000;

interface OrderWait {
  readonly id: number;
  readonly waitMs: number;
  /** Reads the order. It throws when the caller may not read it any more. */
  readonly read: () => Promise<Versioned>;
  /** Whether the client has this version. */
  readonly isKnown: (order: Versioned) => boolean;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** The order as soon as it differs from what the client has, or as it is when the time is over. */
async function waitForOrder(
  events: Pick<EventService, 'resolve' | 'waitForEvents'>,
  { id, waitMs, read, isKnown, signal }: OrderWait,
): Promise<Versioned> {
  const deadline = performance.now() + waitMs;
  const filter = { types: ['order.*'], subject: `order:${id}`, isAdmin: false };
  for (;;) {
    // Read before the order: an event that is numbered later ends the wait.
    const lastEvent = await events.resolve('latest');
    const order = await read();
    const leftMs = deadline - performance.now();
    if (!isKnown(order) || leftMs <= 0 || signal.aborted) {
      return order;
    }
    await events.waitForEvents(lastEvent, filter, 1, Math.min(leftMs, rereadMs), signal);
  }
}

/** Routes for the orders of one customer. They accept a customer's session alone; those under /store do not. */
import { anyOf, apiKey, oauth, session } from '../access/access.ts';
import type { Principal } from '../access/principal.ts';
import type { CustomerFinder } from '../customers/customer-finder.ts';
import {
  conflictResponse,
  notFoundResponse,
  preconditionFailedResponse,
} from '../http/responses/error-responses.ts';
import { entityResponse, toPrecondition } from '../http/responses/etag.ts';
import { listRoute } from '../http/responses/list-route.ts';
import { type Route, route } from '../http/route.ts';
import { orderListQuery, toOrderRequest } from './lists/list-query.ts';
import type { OrderReader } from './lists/order-reader.ts';
import { oneOrder, orderId, orderIfMatch } from './routes.ts';
import { OrderList, Timeline } from './schemas.ts';
import type { OrderService } from './service.ts';

const tag = 'Customers';
export const customerOrders = '/customer/:username/orders';
/** Who reads orders of a customer. */
export const customerOrderAccess = anyOf(apiKey, session, oauth('read:orders'));
const noCustomer = notFoundResponse('There is no customer with this username');
export const noCustomerOrder = notFoundResponse(
  'There is no customer with this username, or the customer has no such order',
);
/** The first order that is not a test order. */
const examples = { orderId: 11 };

interface Dependencies {
  readonly customerFinder: CustomerFinder;
  readonly orders: OrderService;
  readonly orderReader: OrderReader;
}

/** Returns the id of the order in a path, if it is one of the customer's and the caller has access. */
export function ownOrderIn({
  customerFinder,
  orderReader,
}: Pick<Dependencies, 'customerFinder' | 'orderReader'>) {
  return async (params: Readonly<Record<string, string>>, principal: Principal): Promise<number> => {
    const customerId = await customerFinder.idOf(params.username ?? '', principal);
    const id = orderId(params);
    await orderReader.requireOf(customerId, id);
    return id;
  };
}

export function customerOrderRoutes({ customerFinder, orders, orderReader }: Dependencies): Route[] {
  const ownOrder = ownOrderIn({ customerFinder, orderReader });
  return [
    listRoute({
      path: customerOrders,
      operationId: 'listCustomerOrders',
      tag,
      summary: 'List the orders of a customer, the newest first',
      description:
        "A customer's session or token lists the customer's own orders; an API key alone lists those of any customer.",
      access: customerOrderAccess,
      permitsConfined: true,
      publishable: 'withCustomer',
      query: orderListQuery,
      page: { description: 'A page of orders', schema: OrderList },
      errors: noCustomer,
      cacheControl: 'private, no-cache',
      list: async ({ params, query, principal }) => {
        const customerId = await customerFinder.idOf(params.username ?? '', principal);
        return orderReader.listOf(customerId, principal, toOrderRequest(query));
      },
    }),
    route({
      method: 'GET',
      path: `${customerOrders}/:orderId`,
      operationId: 'getCustomerOrder',
      examples,
      tag,
      summary: 'Read an order of a customer',
      description: 'The order by its id. 404 where it belongs to another customer.',
      access: customerOrderAccess,
      permitsConfined: true,
      publishable: 'withCustomer',
      responses: { 200: oneOrder('The order'), ...noCustomerOrder },
      handle: async ({ params, principal }) =>
        entityResponse(await orders.find(await ownOrder(params, principal), principal), 200),
    }),
    route({
      method: 'GET',
      path: `${customerOrders}/:orderId/timeline`,
      operationId: 'getCustomerOrderTimeline',
      examples,
      tag,
      summary: 'Read the timeline of an order of a customer',
      description: 'Every transition of the order, the oldest first: when, by whom, and why.',
      access: customerOrderAccess,
      permitsConfined: true,
      publishable: 'withCustomer',
      responses: { 200: { description: 'The transitions so far', schema: Timeline }, ...noCustomerOrder },
      handle: async ({ params, principal }) => ({
        status: 200,
        headers: { 'Cache-Control': 'private, no-cache' },
        body: { items: await orderReader.timeline(await ownOrder(params, principal), principal) },
      }),
    }),
    route({
      method: 'DELETE',
      path: `${customerOrders}/:orderId`,
      operationId: 'cancelCustomerOrder',
      examples,
      tag,
      summary: 'Cancel an order of a customer that has not shipped',
      description: 'It can still be read. Cancelling it again changes nothing.',
      access: anyOf(session, oauth('write:orders')),
      permitsConfined: true,
      publishable: 'withCustomer',
      headers: orderIfMatch,
      responses: {
        204: { description: 'The order is cancelled' },
        ...noCustomerOrder,
        ...conflictResponse('The order has shipped'),
        ...preconditionFailedResponse,
      },
      handle: async ({ params, headers, principal, context }) => {
        const id = await ownOrder(params, principal);
        await orders.cancel(context, id, principal, toPrecondition(headers['if-match']));
        return { status: 204 };
      },
    }),
  ];
}

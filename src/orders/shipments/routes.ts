/** Routes of shipments. */
import { anyOf, apiKey, oauth } from '../../access/access.ts';
import type { CustomerFinder } from '../../customers/customer-finder.ts';
import {
  conflictResponse,
  preconditionFailedResponse,
  unprocessableResponse,
} from '../../http/responses/error-responses.ts';
import { entityResponse, ifMatchFor, toPrecondition } from '../../http/responses/etag.ts';
import { type Route, route } from '../../http/route.ts';
import { customerOrderAccess, customerOrders, noCustomerOrder, ownOrderIn } from '../customer-routes.ts';
import type { OrderReader } from '../lists/order-reader.ts';
import { noOrder, orderId } from '../routes.ts';
import { Shipment, ShipmentInput } from './schemas.ts';
import type { Shipments } from './shipments.ts';

const oneShipment = (description: string) => ({ description, schema: Shipment });
const reading =
  'Carrier and tracking, as an operator stated them. All members are null where nothing was stated, and before the order has shipped.';

export function shipmentRoutes(
  customerFinder: CustomerFinder,
  orderReader: OrderReader,
  shipments: Shipments,
): Route[] {
  const ownOrder = ownOrderIn({ customerFinder, orderReader });
  return [
    route({
      method: 'GET',
      path: '/store/order/:orderId/shipment',
      operationId: 'getOrderShipment',
      tag: 'Store',
      summary: 'Read how an order is shipped',
      description: `${reading} A key beside a customer's session or token reads those of that customer's orders only.`,
      access: anyOf(apiKey, oauth('read:orders')),
      permitsConfined: true,
      publishable: 'withCustomer',
      responses: { 200: oneShipment('The shipment'), ...noOrder },
      handle: async ({ params, principal }) =>
        entityResponse(await shipments.find(orderId(params), principal), 200),
    }),
    route({
      method: 'PUT',
      path: '/store/order/:orderId/shipment',
      operationId: 'replaceOrderShipment',
      examples: { orderId: 5 },
      tag: 'Store',
      summary: 'Change how an order is shipped',
      description:
        'Possible while the order is shipped and not delivered. Members that are left out or null are removed.',
      access: anyOf(oauth('admin')),
      headers: ifMatchFor('shipment'),
      body: ShipmentInput,
      responses: {
        200: oneShipment('The shipment as it is now'),
        ...noOrder,
        ...conflictResponse('The order has not shipped, or is delivered'),
        ...preconditionFailedResponse,
        ...unprocessableResponse,
      },
      handle: async ({ params, headers, body, context }) => {
        const precondition = toPrecondition(headers['if-match']);
        return entityResponse(await shipments.replace(context, orderId(params), body, precondition), 200);
      },
    }),
    route({
      method: 'GET',
      path: `${customerOrders}/:orderId/shipment`,
      operationId: 'getCustomerOrderShipment',
      examples: { orderId: 11 },
      tag: 'Customers',
      summary: 'Read how an order of a customer is shipped',
      description: reading,
      access: customerOrderAccess,
      permitsConfined: true,
      publishable: 'withCustomer',
      responses: { 200: oneShipment('The shipment'), ...noCustomerOrder },
      handle: async ({ params, principal }) =>
        entityResponse(await shipments.find(await ownOrder(params, principal), principal), 200),
    }),
  ];
}

/** Routes of delivery methods. */
import { anyOf, oauth } from '../access/access.ts';
import type { Principal } from '../access/principal.ts';
import { parsePathId } from '../http/pipeline/path-id.ts';
import {
  conflictResponse,
  notFoundResponse,
  preconditionFailedResponse,
  unprocessableResponse,
} from '../http/responses/error-responses.ts';
import { entityResponse, ifMatchFor, toPrecondition } from '../http/responses/etag.ts';
import { type Route, route } from '../http/route.ts';
import {
  DeliveryMethod,
  DeliveryMethodInput,
  DeliveryMethodList,
  DeliveryMethodPatch,
  methodsMax,
} from './schemas.ts';
import type { DeliveryService } from './service.ts';

const tag = 'Delivery and taxes';
const path = '/delivery-methods';
const access = anyOf(oauth('admin'));
const missing = 'There is no such delivery method';
const headers = ifMatchFor('delivery method');
/** Who sees methods that are not enabled. */
const isOwner = ({ scopes, confinedTo }: Principal) => scopes.has('admin') && confinedTo === null;
const parseId = (text: string | undefined) => parsePathId(text, `${missing}.`);

export function deliveryMethodRoutes(delivery: DeliveryService): Route[] {
  return [
    route({
      method: 'GET',
      path,
      operationId: 'listDeliveryMethods',
      tag,
      summary: 'List the delivery methods',
      description:
        'How goods reach customers, by position. Without the scope `admin`, only those that customers can choose.',
      access: 'any credential',
      permitsConfined: true,
      publishable: 'catalogue',
      responses: { 200: { description: 'The methods', schema: DeliveryMethodList } },
      handle: async ({ principal }) => {
        const methods = await delivery.list();
        const items = isOwner(principal) ? methods : methods.filter(({ isEnabled }) => isEnabled);
        return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: { items } };
      },
    }),
    route({
      method: 'POST',
      path,
      operationId: 'createDeliveryMethod',
      tag,
      summary: 'Create a delivery method',
      description: `At most ${methodsMax}. A member that is absent is the usual one: a parcel to every country, on every day.`,
      access,
      body: DeliveryMethodInput,
      responses: {
        201: { description: 'The method', schema: DeliveryMethod },
        ...conflictResponse(`There are ${methodsMax} delivery methods already`),
        ...unprocessableResponse,
      },
      handle: ({ body, withIdempotency }) =>
        withIdempotency(
          (context) => delivery.create(context, body),
          (method) => entityResponse(method, 201),
        ),
    }),
    route({
      method: 'GET',
      path: `${path}/:methodId`,
      operationId: 'getDeliveryMethod',
      tag,
      summary: 'Read a delivery method',
      description: 'Its ETag is for If-Match of a change.',
      access: 'any credential',
      permitsConfined: true,
      publishable: 'catalogue',
      responses: { 200: { description: 'The method', schema: DeliveryMethod }, ...notFoundResponse(missing) },
      handle: async ({ params, principal }) =>
        entityResponse(await delivery.find(parseId(params.methodId), isOwner(principal)), 200),
    }),
    route({
      method: 'PATCH',
      path: `${path}/:methodId`,
      operationId: 'patchDeliveryMethod',
      tag,
      summary: 'Change a delivery method',
      description: 'A JSON Merge Patch: send only what changes. Orders keep what they had.',
      access,
      headers,
      body: DeliveryMethodPatch,
      bodyTypes: ['application/merge-patch+json', 'application/json'],
      responses: {
        200: { description: 'The changed method', schema: DeliveryMethod },
        ...notFoundResponse(missing),
        ...preconditionFailedResponse,
        ...unprocessableResponse,
      },
      handle: async ({ params, body, headers, context }) =>
        entityResponse(
          await delivery.change(context, parseId(params.methodId), body, toPrecondition(headers['if-match'])),
          200,
        ),
    }),
    route({
      method: 'DELETE',
      path: `${path}/:methodId`,
      operationId: 'deleteDeliveryMethod',
      tag,
      summary: 'Delete a delivery method',
      description: 'Orders keep what they had.',
      access,
      headers,
      responses: {
        204: { description: 'The method is deleted' },
        ...notFoundResponse(missing),
        ...preconditionFailedResponse,
      },
      handle: async ({ params, headers, context }) => {
        await delivery.delete(context, parseId(params.methodId), toPrecondition(headers['if-match']));
        return { status: 204 };
      },
    }),
  ];
}

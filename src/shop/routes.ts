/** Routes of the shop. */
import { anyOf, oauth } from '../access/access.ts';
import {
  conflictResponse,
  preconditionFailedResponse,
  unprocessableResponse,
} from '../http/responses/error-responses.ts';
import { entityResponse, ifMatchFor, toPrecondition } from '../http/responses/etag.ts';
import { type Route, route } from '../http/route.ts';
import { Shop, ShopPatch, ShopSettings, ShopSettingsPatch } from './schemas.ts';
import type { ShopService } from './service.ts';

const tag = 'Shop';

/** The cache tag of the description of the shop. */
export const profileTag = 'profile';

export function shopRoutes(shop: ShopService): Route[] {
  return [
    route({
      method: 'GET',
      path: '/shop',
      operationId: 'getShop',
      tag,
      summary: 'Read what the shop is',
      description: 'Its name, where it is, and the currency of all prices. Web shops show it to visitors.',
      access: 'any credential',
      permitsConfined: true,
      publishable: 'catalogue',
      responses: { 200: { description: 'The shop', schema: Shop } },
      handle: async () => ({ ...entityResponse(await shop.find(), 200), cacheTags: [profileTag] }),
    }),
    route({
      method: 'PATCH',
      path: '/shop',
      operationId: 'patchShop',
      tag,
      summary: 'Change what the shop is',
      description:
        'A JSON Merge Patch: send only what changes; null removes. The currency can change until the first order.',
      access: anyOf(oauth('admin')),
      headers: ifMatchFor('shop'),
      body: ShopPatch,
      bodyTypes: ['application/merge-patch+json', 'application/json'],
      responses: {
        200: { description: 'The changed shop', schema: Shop },
        ...conflictResponse('The shop has orders, so its currency cannot change'),
        ...preconditionFailedResponse,
        ...unprocessableResponse,
      },
      handle: async ({ body, headers, context }) =>
        entityResponse(await shop.change(context, body, toPrecondition(headers['if-match'])), 200),
    }),
    route({
      method: 'GET',
      path: '/shop/settings',
      operationId: 'getShopSettings',
      tag,
      summary: 'Read what only the owner of the shop sees',
      description: 'Settings that are not for visitors, such as the weight of the packaging.',
      access: anyOf(oauth('admin')),
      responses: { 200: { description: 'The settings', schema: ShopSettings } },
      handle: async () => entityResponse(await shop.findSettings(), 200),
    }),
    route({
      method: 'PATCH',
      path: '/shop/settings',
      operationId: 'patchShopSettings',
      tag,
      summary: 'Change what only the owner of the shop sees',
      description: 'A JSON Merge Patch: send only what changes. PATCH /v2/shop takes these members too.',
      access: anyOf(oauth('admin')),
      headers: ifMatchFor('settings'),
      body: ShopSettingsPatch,
      bodyTypes: ['application/merge-patch+json', 'application/json'],
      responses: {
        200: { description: 'The changed settings', schema: ShopSettings },
        ...preconditionFailedResponse,
        ...unprocessableResponse,
      },
      handle: async ({ body, headers, context }) =>
        entityResponse(await shop.changeSettings(context, body, toPrecondition(headers['if-match'])), 200),
    }),
  ];
}

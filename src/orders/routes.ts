/** The store over HTTP: everything under /store. */
import { anyOf, apiKey, oauth } from '../auth/access.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { type Route, route } from '../http/route.ts';
import { Inventory } from './schemas.ts';

const tag = 'Store';

interface Dependencies {
  readonly cheeses: CheeseService;
}

export function storeRoutes({ cheeses }: Dependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/store/inventory',
      operationId: 'getInventory',
      tag,
      summary: 'Count cheeses by status',
      access: anyOf(apiKey, oauth('read:cheeses')),
      answers: { 200: { description: 'How many cheeses are in each status', schema: Inventory } },
      handle: async () => ({ status: 200, body: await cheeses.countByStatus() }),
    }),
  ];
}

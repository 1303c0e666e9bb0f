/** Availability of cheeses over HTTP. */
import { anyOf, apiKey, oauth } from '../access/access.ts';
import { cheeseId, noCheese } from '../cheeses/routes.ts';
import { badRequestResponse } from '../http/responses/error-responses.ts';
import { type Route, route } from '../http/route.ts';
import { idRule } from '../schema/text-rules.ts';
import type { AvailabilityReader } from './availability.ts';
import { Availability, AvailabilityList } from './schemas.ts';

const tag = 'Stock';
const access = anyOf(apiKey, oauth('read:cheeses'));
/** Orders change it without a change of the catalogue. */
const headers = { 'Cache-Control': 'private, no-cache' };

export function availabilityRoutes(availability: AvailabilityReader): Route[] {
  return [
    route({
      method: 'GET',
      path: '/cheeses/:cheeseId/availability',
      operationId: 'getCheeseAvailability',
      tag,
      summary: 'Read whether a cheese can be ordered',
      description:
        'Whether the cheese can be ordered now, and how many kilograms. A statement of this moment: an order of another customer may come first.',
      access,
      permitsConfined: true,
      publishable: 'catalogue',
      responses: { 200: { description: 'The availability', schema: Availability }, ...noCheese },
      handle: async ({ params }) => ({
        status: 200,
        headers,
        body: { ...(await availability.find(cheeseId(params))) },
      }),
    }),
    route({
      method: 'GET',
      path: '/availability',
      operationId: 'listAvailability',
      tag,
      summary: 'List which cheeses can be ordered',
      description:
        'For up to 100 cheeses, for example those of a page or of a cart, in the order of the ids. Cheeses that do not exist are left out.',
      access,
      permitsConfined: true,
      publishable: 'catalogue',
      query: {
        cheeseIds: {
          type: 'array',
          isRequired: true,
          minItems: 1,
          maxItems: 100,
          items: { type: 'string', rule: idRule },
          description: 'Ids of cheeses, with commas',
        },
      },
      examples: { cheeseIds: '12,15' },
      responses: {
        200: { description: 'The availability of the cheeses', schema: AvailabilityList },
        ...badRequestResponse('A parameter is not valid'),
      },
      handle: async ({ query }) => ({
        status: 200,
        headers,
        body: { items: await availability.list(query.cheeseIds.map(Number)) },
      }),
    }),
  ];
}

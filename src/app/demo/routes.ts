/** The route that removes the demo. */

import { anyOf, oauth } from '../../access/access.ts';
import type { Context } from '../../database/context.ts';
import { type Route, route } from '../../http/route.ts';
import { objectOf } from '../../schema/parts.ts';
import type { RemovedDemo } from './demo.ts';

const DemoResult = {
  title: 'DemoResult',
  ...objectOf({
    removed: { type: 'array', items: { type: 'string' }, description: 'Names of demo cheeses' },
    kept: {
      type: 'array',
      items: { type: 'string' },
      description: 'Names of demo cheeses that were ordered. Changed ones are not listed: they are yours',
    },
  }),
  examples: [{ removed: ['Gruyère'], kept: ['Brie de Meaux'] }],
} as const;

export function demoRoutes(remove: (context: Context) => Promise<RemovedDemo>): Route[] {
  return [
    route({
      method: 'DELETE',
      path: '/demo',
      operationId: 'deleteDemo',
      tag: 'Administration',
      summary: 'Remove the demo cheeses',
      description:
        'Deletes the demo cheeses that were not changed and never ordered, with their drawings. In a dry run, the response lists them and nothing is deleted.',
      access: anyOf(oauth('admin')),
      responses: { 200: { description: 'What was removed', schema: DemoResult } },
      handle: async ({ context }) => ({ status: 200, body: { ...(await remove(context)) } }),
    }),
  ];
}

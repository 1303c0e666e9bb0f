/** What the description of the API says beside its routes. */
import packageJson from '../package.json' with { type: 'json' };
import { scopeSummaries } from './auth/access.ts';
import type { About } from './http/openapi.ts';

export const about: About = {
  version: packageJson.version,
  scopes: scopeSummaries,
  // Of the demo catalogue, the test orders and the other examples.
  examples: {
    cheeseId: 1,
    orderId: 1,
    keyId: 1,
    username: 'ada',
    status: 'available',
    tags: 'cow,goat',
    'X-Confirm-Delete': true,
  },
};

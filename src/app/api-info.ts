/** What openapi.json contains besides the routes: version, tags, scopes, examples of parameters. */
import packageJson from '../../package.json' with { type: 'json' };
import { scopeSummaries } from '../auth/access.ts';
import type { ApiInfo } from '../http/openapi.ts';

export const apiInfo: ApiInfo = {
  title: 'Curd',
  description: `Version 2 of the API of an online cheese shop, served by Curd ${packageJson.version}. Put an API key under Authentication to try it. Requests that change something need an API key with the scope.`,
  version: packageJson.version,
  tags: [
    {
      name: 'Cheeses',
      description: 'The catalogue: read it page by page, search it, change it, and show images of it.',
    },
    {
      name: 'Store',
      description: 'Inventory and orders, from placing an order to its delivery.',
    },
    {
      name: 'Customers',
      description: 'Registration, login, logout and profiles of customers.',
    },
    {
      name: 'About',
      description: 'What the credential in use may do, and every limit of this server.',
    },
    {
      name: 'API keys',
      description: 'Create, list, rotate and revoke the API keys of an account. Needs the scope `admin`.',
    },
    {
      name: 'OAuth',
      description:
        'The authorization server (RFC 6749): endpoints for applications, and the pages on which a customer logs in and consents. The pages are for browsers and cannot be tried here.',
    },
    {
      name: 'Operation',
      description: 'Health, metrics, this document and the pages around it. Their paths are outside `/v2`.',
    },
  ],
  scopes: scopeSummaries,
  // They exist in the demo catalogue, the test orders and the other examples.
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

/** What openapi.json contains besides the routes: version, tags, scopes, examples of parameters. */

import packageJson from '../../package.json' with { type: 'json' };
import { scopeSummaries } from '../access/access.ts';
import type { ApiInfo } from '../http/openapi/openapi.ts';
import { clientSample } from './client-sample.ts';

/** The introduction of the reference page. Its headings become entries of the page's menu. */
const guides = `Version 2 of the API of an online cheese shop, served by Curd ${packageJson.version}. The page of an operation has a form that sends its request.

## Authentication

Send an API key as \`X-API-Key: <key>\` or \`Authorization: Bearer <key>\`. Send a customer session or an OAuth token as \`Authorization: Bearer <token>\`. Every API key can read; changes need a scope, which each operation names. A missing or invalid credential is 401, a missing scope is 403. \`GET /whoami\` shows what a credential permits.

The server of a web shop sends two credentials: its key in \`X-API-Key\` and the customer's session in \`Authorization\`. Such a request reads and changes only what belongs to this customer.

## Pagination

Lists return pages of \`limit\` items (20 by default, 100 at most), with the number of all matches in \`total\`. If there are more, send \`nextCursor\` as the parameter \`cursor\`, alone or with the same filters. A cursor does not expire. Items that are added or deleted in the meantime cause neither gaps nor duplicates among the others.

## Errors

Every error has the same body. Programs should use \`type\`, which does not change; \`message\` is for people.

\`\`\`json
{ "code": 404, "type": "not_found", "message": "There is no cheese with the id 4711." }
\`\`\`

A 422 lists every invalid field in \`errors\`, a 400 every invalid parameter, and a 409 the fields whose values are taken. With \`Accept: application/problem+json\` errors have the format of RFC 9457. Unknown parameters and members are ignored; with \`Prefer: handling=strict\` they are errors. Without it, the header \`Curd-Ignored\` of the response names the members of the body that were ignored, such as \`note, items[0].colour\`: at most 10 paths, percent-encoded. Quote \`X-Request-Id\` when you report a problem.

## Limits

Each plan permits a number of requests per second and per hour. The headers \`RateLimit\` and \`RateLimit-Policy\` say what remains. A 429 or 503 has \`Retry-After\`: wait that many seconds, plus a random delay if you have many clients. \`GET /limits\` lists all limits of this server.

## Idempotency

Send an \`Idempotency-Key\` with a POST to repeat it safely, for example after a timeout. For 24 hours the same request with the same key returns the stored response with \`Idempotency-Replayed: true\` and changes nothing. Another request with the same key is 422. \`GET /v2/idempotency/{key}\` shows what was done under a key. Use a new random key, such as a UUID, for each change.

## Conditional requests

Resources have an \`ETag\`. Send it as \`If-None-Match\` to get 304 when nothing changed, and as \`If-Match\` to change a resource only if no other client has changed it: otherwise the response is 412.`;

/** The introduction of the landing page. */
export const landingText = 'The API of a cheese shop.';

export const apiInfo: ApiInfo = {
  title: 'Curd',
  contact: 'The operator of this shop',
  description: guides,
  version: packageJson.version,
  tags: [
    {
      name: 'Cheeses',
      description: 'The catalogue: read it page by page, search it, change it, and show images of it.',
    },
    {
      name: 'Shop',
      description: 'What the shop is: its name, address and currency.',
    },
    {
      name: 'Delivery and taxes',
      description: 'How goods reach customers, for which charge and when, and the rates of tax.',
    },
    {
      name: 'Discounts',
      description: 'Codes that take something off an order. Needs the scope `admin`.',
    },
    {
      name: 'Stock',
      description: 'Kilograms in the storeroom, for cheeses whose stock is tracked. Orders reserve them.',
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
      name: 'Notes',
      description:
        'What operators noted about orders and customers. Needs the scope `admin`: customers never see notes.',
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
      name: 'Administration',
      description:
        'For operators, with the scope `admin`: accounts, OAuth clients, approvals and customers. A request that acts for a customer is 403.',
    },
    {
      name: 'Events',
      description:
        'Everything that happens in the shop, in one order without gaps: as a list, with waiting, and as a stream.',
    },
    {
      name: 'Requests',
      description: 'What happened to a request: its errors, its limits, where its time went, and its events.',
    },
    {
      name: 'Webhooks',
      description:
        'Endpoints to which events are sent, their secrets, and the log of deliveries. Needs the scope `admin`.',
    },
    {
      name: 'Mail',
      description: 'The mails to customers, and why some were not sent. Needs the scope `admin`.',
    },
    {
      name: 'OAuth',
      description:
        'The authorization server (RFC 6749): endpoints for applications, and the pages on which a customer logs in and consents. The pages are for browsers.',
    },
    {
      name: 'Sandbox',
      description:
        'To test an integration: the time of the shop and what depends on it, resets and snapshots. None of these paths exists in production.',
    },
    {
      name: 'MCP',
      description: 'The Model Context Protocol, with which AI assistants use the shop. Needs `CURD_MCP=on`.',
    },
    {
      name: 'Console',
      description: "The operator's web page, and the sign-in to it.",
    },
    {
      name: 'Operation',
      description: 'Health, metrics, this document and the pages around it. Their paths are outside `/v2`.',
    },
  ],
  scopes: scopeSummaries,
  sampleOf: clientSample,
  // They exist in the demo catalogue, the test orders and the other examples.
  examples: {
    cheeseId: 1,
    orderId: 1,
    keyId: 1,
    noteId: 1,
    endpointId: 1,
    snapshotId: 3,
    deliveryId: 1,
    mailId: 1,
    accountId: 1,
    customerId: 7,
    approvalId: 1,
    methodId: 1,
    rateId: 1,
    code: 'SPRING',
    username: 'ada',
    status: 'available',
    tags: 'cow,goat',
    'X-Confirm-Delete': true,
  },
};

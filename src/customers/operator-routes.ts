/** Routes of customers for operators. */

import { anyOf, apiKey, oauth } from '../access/access.ts';
import { roles } from '../auth/oauth/customer-directory.ts';
import { parsePathId } from '../http/pipeline/path-id.ts';
import {
  conflictResponse,
  notFoundResponse,
  unprocessableResponse,
} from '../http/responses/error-responses.ts';
import { listRoute } from '../http/responses/list-route.ts';
import { TextBody } from '../http/responses/response.ts';
import { type Route, route } from '../http/route.ts';
import { cursorParameter, limitParameter, pageOf, timestampSchema } from '../schema/parts.ts';
import { searchRule } from '../schema/text-rules.ts';
import type { CustomerAdministration } from './administration.ts';
import { resetUrl } from './login/reset-token.ts';
import { Customer } from './schemas.ts';
import type { CustomerSearch } from './search/search.ts';
import { tiers } from './tiers.ts';

const role = { type: 'string', enum: roles } as const;

const CustomerDetails = {
  title: 'CustomerDetails',
  type: 'object',
  required: ['customer', 'role', 'deliveredTotal'],
  properties: {
    customer: Customer,
    role: { ...role, description: 'Staff may be granted more scopes' },
    deliveredTotal: {
      type: 'number',
      description: 'Value of all delivered orders, in the currency of the shop',
    },
  },
  examples: [{ customer: Customer.examples[0], role: 'customer', deliveredTotal: 709.5 }],
} as const;

const CustomerList = pageOf('CustomerList', CustomerDetails, 'The newest first, or the best matches first');

const RoleInput = {
  title: 'RoleInput',
  type: 'object',
  required: ['role'],
  properties: { role },
  examples: [{ role: 'staff' }],
} as const;

const PasswordReset = {
  title: 'PasswordReset',
  type: 'object',
  required: ['url', 'expiresAt'],
  properties: {
    url: { type: 'string', format: 'uri', description: 'Send it to the customer. It is shown only once' },
    expiresAt: { ...timestampSchema, description: '30 minutes from now' },
  },
  examples: [
    {
      url: 'https://cheese.example/oauth/password-reset/dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
      expiresAt: '2026-01-15T10:00:00.000Z',
    },
  ],
} as const;

const tag = 'Administration';
const access = anyOf(oauth('admin'));
const uncached = { 'Cache-Control': 'no-store' } as const;
const noCustomer = notFoundResponse('There is no customer with this id');
const idIn = (params: Readonly<Record<string, string>>) =>
  parsePathId(params.customerId, 'There is no customer with this id.');

/** @param issuer the public URL of this server; known when it listens */
export function customerOperatorRoutes(
  administration: CustomerAdministration,
  search: CustomerSearch,
  issuer: () => string,
): Route[] {
  return [
    listRoute({
      path: '/customers',
      operationId: 'listCustomers',
      tag,
      summary: 'Search customers, or list the newest',
      description:
        'With `q`, matches of the username come first, then of the e-mail address, of the last name, and of first and last name; each customer comes once. Names match without case and accents, usernames and e-mail addresses without case. With a rare `status` or `role`, a page can have fewer customers than `limit`, or none, while `hasMore` is true: continue with `nextCursor`.',
      access,
      query: {
        q: {
          type: 'string',
          minLength: 1,
          maxLength: 100,
          rule: searchRule,
          description:
            'The beginning of a username, an e-mail address, a last name, or of first and last name',
        },
        status: { type: 'string', enum: tiers, description: 'Only this tier' },
        role: { ...role, description: 'Only this role' },
        cursor: cursorParameter(4000),
        limit: limitParameter('Customers on a page'),
      },
      examples: { status: 'silver' },
      page: { description: 'A page of customers', schema: CustomerList },
      list: async ({ query }) => {
        const { items, ...end } = await search.list(query);
        return { items: items.join(','), ...end };
      },
    }),
    route({
      method: 'GET',
      path: '/customers/:customerId',
      operationId: 'getCustomerById',
      tag,
      summary: 'Read a customer by id',
      description: 'Events name customers by id. An API key alone reads every customer.',
      access: anyOf(apiKey, oauth('admin')),
      responses: { 200: { description: 'The customer', schema: CustomerDetails }, ...noCustomer },
      handle: async ({ params }) => ({
        status: 200,
        headers: uncached,
        body: new TextBody(await search.find(idIn(params))),
      }),
    }),
    route({
      method: 'POST',
      path: '/customers/:customerId/role',
      operationId: 'changeCustomerRole',
      tag,
      summary: 'Change the role of a customer',
      description: 'It counts from the next request on. An operator cannot change their own role.',
      access,
      body: RoleInput,
      responses: {
        200: { description: 'The customer', schema: CustomerDetails },
        ...noCustomer,
        ...conflictResponse('This is your own role'),
        ...unprocessableResponse,
      },
      handle: async ({ principal, params, body, withIdempotency }) => {
        const id = idIn(params);
        const details = JSON.parse(await search.find(id));
        return withIdempotency(
          (context) => administration.changeRole(context, id, body.role, principal),
          () => ({ status: 200, headers: uncached, body: { ...details, role: body.role } }),
        );
      },
    }),
    route({
      method: 'DELETE',
      path: '/customers/:customerId/sessions',
      operationId: 'endCustomerSessions',
      tag,
      summary: 'End all sessions of a customer',
      description:
        'Sessions of the API, and of browsers at the login page. Tokens of applications stay valid; a new password ends them too.',
      access,
      responses: { 204: { description: 'All sessions have ended' }, ...noCustomer },
      handle: async ({ params, context }) => {
        await administration.endSessions(context, idIn(params));
        return { status: 204 };
      },
    }),
    route({
      method: 'POST',
      dryRun: 'none',
      path: '/customers/:customerId/password-reset',
      operationId: 'createPasswordReset',
      tag,
      summary: 'Make a link for a new password',
      description:
        'Only this response contains the link, which works once, for 30 minutes. An older link of the customer ends.',
      access,
      responses: { 201: { description: 'The link', schema: PasswordReset }, ...noCustomer },
      handle: ({ params, withIdempotency }) => {
        const id = idIn(params);
        return withIdempotency(
          (context) => administration.createReset(context, id),
          ({ token, expiresAt }) => ({
            status: 201,
            headers: uncached,
            body: { url: resetUrl(issuer(), token), expiresAt },
          }),
        );
      },
    }),
  ];
}

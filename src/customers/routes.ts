/** Routes of customers: registration, login, logout and profiles. */
import { anyOf, apiKey, oauth, type Requirement, session } from '../access/access.ts';
import {
  conflictResponse,
  notFoundResponse,
  preconditionFailedResponse,
  unauthorizedResponse,
  unprocessableResponse,
} from '../http/responses/error-responses.ts';
import { entityResponse, etagHeader, ifMatchFor, toPrecondition } from '../http/responses/etag.ts';
import { TextBody } from '../http/responses/response.ts';
import { type Route, type RouteDefinition, route } from '../http/route.ts';
import { batchOf } from '../schema/batch.ts';
import type { LoginService } from './login/login.ts';
import {
  Customer,
  CustomerBatchResult,
  customerBatchMax,
  customerInput,
  Login,
  LoginResult,
} from './schemas.ts';
import type { CustomerService } from './service.ts';

const tag = 'Customers';
const noCustomer = notFoundResponse('There is no customer with this username');
const oneCustomer = (description: string) => ({ description, schema: Customer });

interface Dependencies {
  readonly customers: CustomerService;
  readonly login: LoginService;
  readonly registration: 'open' | 'key';
  readonly passwordLengthMin: number;
}

export function customerRoutes(dependencies: Dependencies): Route[] {
  const { customers, login, registration, passwordLengthMin } = dependencies;
  const input = customerInput(passwordLengthMin);
  const mayRegister = registration === 'open' ? 'open' : anyOf(apiKey);

  return [
    route({
      method: 'POST',
      path: '/customer',
      operationId: 'registerCustomer',
      tag,
      summary: 'Register a customer',
      description:
        'Username and e-mail address must not belong to another customer. Registration does not log in: use POST /v2/customer/login.',
      access: mayRegister,
      // If registration needs a key, one that anybody can copy does not suffice.
      ...(registration === 'open' ? { publishable: 'alone' } : {}),
      rateLimitGroup: 'login',
      acceptsClientIp: true,
      replay: 'beforeWork',
      body: input,
      responses: {
        201: oneCustomer('The new customer'),
        ...conflictResponse('The username or the e-mail address belongs to another customer'),
        ...unprocessableResponse,
      },
      handle: ({ body, withIdempotency }) =>
        withIdempotency(
          (context) => customers.register(context, body),
          (customer) => ({
            ...entityResponse(customer, 201),
            headers: {
              ...etagHeader(customer),
              Location: `/v2/customer/${encodeURIComponent(body.username)}`,
            },
          }),
        ),
    }),
    route({
      method: 'POST',
      path: '/customer/createMultiple',
      operationId: 'registerCustomers',
      tag,
      summary: 'Register several customers',
      description: 'Entries are independent: valid entries are registered even if others are refused.',
      access: mayRegister,
      rateLimitGroup: 'login',
      acceptsClientIp: true,
      replay: 'beforeWork',
      body: batchOf(input, {
        maxItems: customerBatchMax,
        examples: [[{ username: 'bob', email: 'bob@example.com', password: 'a cheese a day' }]],
      }),
      responses: {
        200: {
          description: 'The registered customers, and the errors of the other entries',
          schema: CustomerBatchResult,
        },
        ...unprocessableResponse,
      },
      handle: ({ body, countAs, withIdempotency }) => {
        const entries = body.map((entry) => ('errors' in entry ? entry.errors : entry.value));
        return withIdempotency(
          async (context) => {
            await countAs(Math.max(1, entries.length));
            return customers.registerAll(context, entries);
          },
          ({ created, errors }) => ({
            status: 200,
            body: new TextBody(
              `{"created":[${created.map((customer) => customer.body).join(',')}],"errors":${JSON.stringify(errors)}}`,
            ),
          }),
        );
      },
    }),
    route({
      method: 'POST',
      path: '/customer/login',
      operationId: 'loginCustomer',
      tag,
      summary: 'Log in',
      description: 'A customer can have 20 open sessions. Another login ends the oldest.',
      access: 'open',
      publishable: 'alone',
      rateLimitGroup: 'login',
      acceptsClientIp: true,
      // Its result is a secret, and failed attempts are counted in other transactions.
      dryRun: 'none',
      // If the replay came first, a used idempotency key would tell correct passwords from wrong ones without limit.
      replay: 'afterChecks',
      body: Login,
      responses: {
        200: { description: 'The session', schema: LoginResult },
        ...unauthorizedResponse(
          'The username or the password is wrong, or a credential of the request is invalid',
        ),
        ...unprocessableResponse,
      },
      handle: ({ body, clientIp, withIdempotency }) =>
        withIdempotency(
          (context) => login.login(context, body, clientIp()),
          (opened) => ({ status: 200, headers: { 'Cache-Control': 'no-store' }, body: opened }),
        ),
    }),
    route({ ...logout(login), method: 'GET', operationId: 'logoutCustomer', mutatesOnGet: true }),
    route({
      ...logout(login),
      method: 'POST',
      operationId: 'logoutCustomerSafely',
      description:
        'The same by POST, so that programs that follow links or prefetch pages do not end a session.',
    }),
    route({
      method: 'GET',
      path: '/customer/:username',
      operationId: 'getCustomer',
      tag,
      summary: 'Read a profile',
      description:
        'An API key alone reads every profile. With a session or token of a customer, the request reads only that profile.',
      access: anyOf(apiKey, session, oauth('read:profile')),
      permitsConfined: true,
      publishable: 'withCustomer',
      responses: { 200: oneCustomer('The customer'), ...noCustomer },
      handle: async ({ params, principal }) =>
        entityResponse(await customers.find(params.username ?? '', principal), 200),
    }),
    route({
      method: 'PUT',
      path: '/customer/:username',
      operationId: 'replaceCustomer',
      tag,
      summary: 'Replace a profile',
      description:
        'Absent optional fields are reset to their defaults. Another username renames the customer. A new password ends all other sessions.',
      access: anyOf(session, oauth('write:profile')),
      permitsConfined: true,
      publishable: 'withCustomer',
      headers: ifMatchFor('profile'),
      body: input,
      responses: {
        200: oneCustomer('The new state of the customer'),
        ...noCustomer,
        ...preconditionFailedResponse,
        ...unprocessableResponse,
      },
      handle: async ({ params, body, headers, principal, context }) => {
        const precondition = toPrecondition(headers['if-match']);
        const { username = '' } = params;
        return entityResponse(await customers.replace(context, username, body, principal, precondition), 200);
      },
    }),
    route({
      method: 'DELETE',
      path: '/customer/:username',
      operationId: 'deleteCustomer',
      tag,
      summary: 'Delete a customer permanently',
      description:
        'Deletes the profile and all sessions, cancels orders that have not shipped, and removes personal data from all orders.',
      access: anyOf(session, oauth('write:profile')),
      permitsConfined: true,
      publishable: 'withCustomer',
      headers: ifMatchFor('profile'),
      responses: {
        204: { description: 'The customer was deleted' },
        ...noCustomer,
        ...preconditionFailedResponse,
      },
      handle: async ({ params, headers, principal, context }) => {
        const precondition = toPrecondition(headers['if-match']);
        await customers.delete(context, params.username ?? '', principal, precondition);
        return { status: 204 };
      },
    }),
  ];
}

/** The definition that both methods share. */
function logout(login: LoginService) {
  return {
    path: '/customer/logout',
    tag,
    summary: 'Log out',
    description: 'Ends the session of the request. Other sessions of the customer stay.',
    access: anyOf(session),
    permitsConfined: true,
    publishable: 'withCustomer',
    dryRun: 'none',
    responses: { 204: { description: 'The session has ended' } },
    handle: async ({ principal, context }) => {
      await login.logout(context, principal.sessionHash);
      return { status: 204, headers: { 'Cache-Control': 'no-store' } };
    },
  } satisfies Omit<
    RouteDefinition<Record<never, never>, Record<never, never>, Record<never, never>, readonly Requirement[]>,
    'method' | 'operationId'
  >;
}

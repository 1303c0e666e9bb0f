/** Webhook endpoints over HTTP, for the scope admin. The command line has the same verbs. */
import { anyOf, oauth } from '../access/access.ts';
import type { KeyService } from '../auth/keys/service.ts';
import { parseDuration } from '../duration.ts';
import { parsePathId } from '../http/pipeline/path-id.ts';
import {
  badRequestResponse,
  conflictResponse,
  goneResponse,
  notFoundResponse,
  preconditionFailedResponse,
  unprocessableResponse,
} from '../http/responses/error-responses.ts';
import { entityResponse, ifMatchFor, toPrecondition } from '../http/responses/etag.ts';
import { type RouteResponse, TextBody, uncached } from '../http/responses/response.ts';
import { type Route, route } from '../http/route.ts';
import type { Versioned } from '../versioned.ts';
import { noEndpoint } from './endpoint.ts';
import {
  EndpointEnabling,
  SecretRotation,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointInput,
  WebhookEndpointList,
  WebhookEndpointWithSecret,
  WebhookTestResult,
} from './schemas.ts';
import type { EndpointService } from './service.ts';
import type { TestPing } from './test-ping.ts';

const tag = 'Webhooks';
const access = anyOf(oauth('admin'));
const path = '/webhook-endpoints';
const missing = notFoundResponse('There is no such webhook endpoint');
const missingAccount = notFoundResponse('There is no such account');
const oneEndpoint = (description: string) => ({ description, schema: WebhookEndpoint });
const withSecret = (description: string) => ({ description, schema: WebhookEndpointWithSecret });
const headers = ifMatchFor('endpoint');
const account = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  description: 'Name of an account: only its endpoints',
} as const;

interface Dependencies {
  readonly keys: KeyService;
  readonly webhookEndpoints: EndpointService;
  readonly testPing: TestPing;
  /** Lets the worker look at an endpoint at once. */
  readonly wake: (endpointId: number) => void;
}

export function webhookRoutes({ keys, webhookEndpoints, testPing, wake }: Dependencies): Route[] {
  async function woken<T extends Versioned>(changed: Promise<T>): Promise<T> {
    const endpoint = await changed;
    wake(endpoint.id);
    return endpoint;
  }

  return [
    route({
      method: 'GET',
      path,
      operationId: 'listWebhookEndpoints',
      tag,
      summary: 'List webhook endpoints',
      description:
        'With their health: whether they are disabled, since when they fail, and how many deliveries wait.',
      access,
      query: { account },
      responses: {
        200: { description: 'The endpoints, without their secrets', schema: WebhookEndpointList },
        ...badRequestResponse('A parameter is not valid'),
        ...missingAccount,
      },
      handle: async ({ query }) =>
        uncached(200, new TextBody(`{"items":[${(await webhookEndpoints.list(query.account)).join(',')}]}`)),
    }),
    route({
      method: 'POST',
      path,
      operationId: 'createWebhookEndpoint',
      tag,
      summary: 'Create a webhook endpoint',
      description:
        'Events are sent to the URL, signed with the secret as Standard Webhooks says. Only this response contains the secret. An account can have 20 endpoints.',
      access,
      // The host of the URL is looked up before the transaction.
      replay: 'beforeWork',
      dryRun: 'none',
      body: WebhookEndpointInput,
      responses: {
        201: withSecret('The endpoint, with its secret'),
        ...missingAccount,
        ...conflictResponse('The account has 20 endpoints already'),
        ...goneResponse('The events after `since` have expired, or the position is not in the log any more'),
        ...unprocessableResponse,
      },
      handle: async ({ body, principal, withIdempotency }) => {
        const accountId =
          body.account === undefined ? (principal.accountId ?? 0) : (await keys.findAccount(body.account)).id;
        return withIdempotency(
          (context) => woken(webhookEndpoints.create(context, accountId, body)),
          (endpoint) => privateResponse(endpoint, 201, { Location: `/v2${path}/${endpoint.id}` }),
        );
      },
    }),
    route({
      method: 'GET',
      path: `${path}/:endpointId`,
      operationId: 'getWebhookEndpoint',
      tag,
      summary: 'Read a webhook endpoint',
      description:
        'The ETag changes with the settings and the status of the endpoint, but not with `position`, `failingSince` and what waits.',
      access,
      responses: { 200: oneEndpoint('The endpoint, without its secrets'), ...missing },
      handle: async ({ params }) => privateResponse(await webhookEndpoints.find(endpointId(params)), 200),
    }),
    route({
      method: 'POST',
      path: `${path}/:endpointId`,
      operationId: 'updateWebhookEndpoint',
      tag,
      summary: 'Change a webhook endpoint',
      description:
        'Absent members are not changed. Another URL applies to deliveries that wait as well, and makes them due at once; other types apply to events from now on.',
      access,
      headers,
      replay: 'beforeWork',
      body: WebhookEndpointChange,
      unchangeable: {
        fields: ['account', 'since'],
        remedy: () => 'create another endpoint, or replay events to this one',
      },
      responses: {
        200: oneEndpoint('The new state of the endpoint'),
        ...missing,
        ...preconditionFailedResponse,
        ...unprocessableResponse,
      },
      handle: ({ params, body, headers, withIdempotency }) =>
        withIdempotency(
          (context) =>
            woken(
              webhookEndpoints.update(context, endpointId(params), body, toPrecondition(headers['if-match'])),
            ),
          (endpoint) => privateResponse(endpoint, 200),
        ),
    }),
    route({
      method: 'DELETE',
      path: `${path}/:endpointId`,
      operationId: 'deleteWebhookEndpoint',
      tag,
      summary: 'Delete a webhook endpoint',
      description: 'Its deliveries are deleted as well. A request that is being sent may still arrive.',
      access,
      headers,
      responses: {
        204: { description: 'The endpoint was deleted' },
        ...missing,
        ...preconditionFailedResponse,
      },
      handle: async ({ params, headers, context }) => {
        await webhookEndpoints.delete(context, endpointId(params), toPrecondition(headers['if-match']));
        return { status: 204 };
      },
    }),
    route({
      method: 'POST',
      path: `${path}/:endpointId/rotate-secret`,
      operationId: 'rotateWebhookEndpointSecret',
      tag,
      summary: 'Replace the secret of a webhook endpoint',
      description:
        'Until the overlap ends, deliveries are signed with both secrets. Only this response contains the new one. It also repairs an endpoint that was disabled as `secret_unreadable`.',
      access,
      headers,
      dryRun: 'none',
      body: SecretRotation,
      bodyIsOptional: true,
      responses: {
        200: withSecret('The endpoint, with its new secret'),
        ...missing,
        ...conflictResponse('An earlier rotation overlaps; send the overlap 0s to end both secrets'),
        ...preconditionFailedResponse,
        ...unprocessableResponse,
      },
      handle: ({ params, body, headers, withIdempotency }) =>
        withIdempotency(
          (context) =>
            woken(
              webhookEndpoints.rotateSecret(
                context,
                endpointId(params),
                parseDuration(body.overlap ?? '24h') ?? 0,
                toPrecondition(headers['if-match']),
              ),
            ),
          (endpoint) => privateResponse(endpoint, 200),
        ),
    }),
    route({
      method: 'POST',
      path: `${path}/:endpointId/test`,
      operationId: 'testWebhookEndpoint',
      tag,
      summary: 'Send a test ping',
      description:
        'Sends `webhook.test` at once and waits up to 15 seconds for the response. It is sent once, even to a disabled endpoint, and is not in the log. Where it is accepted, all deliveries that wait are due. Five a minute for an endpoint.',
      access,
      replay: 'beforeWork',
      dryRun: 'none',
      responses: {
        200: { description: 'What the receiver returned', schema: WebhookTestResult },
        ...missing,
        ...conflictResponse('The secret cannot be read: rotate it'),
      },
      handle: ({ params, withIdempotency }) =>
        withIdempotency(
          async (context) => {
            const result = await testPing(context, endpointId(params));
            wake(endpointId(params));
            return context.transaction(async () => result);
          },
          (result) => uncached(200, result),
        ),
    }),
    route({
      method: 'POST',
      path: `${path}/:endpointId/enable`,
      operationId: 'enableWebhookEndpoint',
      tag,
      summary: 'Enable a webhook endpoint',
      description:
        'It gets what it missed, in order; with `skip` only new events. An endpoint that is enabled is not changed.',
      access,
      headers,
      body: EndpointEnabling,
      bodyIsOptional: true,
      responses: {
        200: oneEndpoint('The endpoint, enabled'),
        ...missing,
        ...conflictResponse('Events that it missed have expired, or its secret cannot be read'),
        ...preconditionFailedResponse,
        ...unprocessableResponse,
      },
      handle: ({ params, body, headers, withIdempotency }) =>
        withIdempotency(
          (context) =>
            woken(
              webhookEndpoints.enable(
                context,
                endpointId(params),
                body.skip ?? false,
                toPrecondition(headers['if-match']),
              ),
            ),
          (endpoint) => privateResponse(endpoint, 200),
        ),
    }),
    route({
      method: 'POST',
      path: `${path}/:endpointId/disable`,
      operationId: 'disableWebhookEndpoint',
      tag,
      summary: 'Disable a webhook endpoint',
      description:
        'Nothing is sent to it, and it keeps its position. An endpoint that is disabled is not changed.',
      access,
      headers,
      responses: { 200: oneEndpoint('The endpoint, disabled'), ...missing, ...preconditionFailedResponse },
      handle: ({ params, headers, withIdempotency }) =>
        withIdempotency(
          (context) =>
            webhookEndpoints.disable(context, endpointId(params), toPrecondition(headers['if-match'])),
          (endpoint) => privateResponse(endpoint, 200),
        ),
    }),
  ];
}

export function endpointId(params: Readonly<Record<string, string>>): number {
  return parsePathId(params.endpointId, noEndpoint);
}

function privateResponse(
  endpoint: Versioned,
  status: number,
  more: Readonly<Record<string, string>> = {},
): RouteResponse {
  const response = entityResponse(endpoint, status);
  return { ...response, headers: { ...response.headers, 'Cache-Control': 'no-store', ...more } };
}

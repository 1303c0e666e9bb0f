/** Routes of API keys, for the scope admin. The command line has the same verbs. */
import { anyOf, oauth } from '../../access/access.ts';
import type { Principal } from '../../access/principal.ts';
import { parseDuration } from '../../duration.ts';
import { parsePathId } from '../../http/pipeline/path-id.ts';
import {
  badRequestResponse,
  conflictResponse,
  notFoundResponse,
  unprocessableResponse,
} from '../../http/responses/error-responses.ts';
import { uncached } from '../../http/responses/response.ts';
import { type Route, route } from '../../http/route.ts';
import type { KeyBudgets } from './budgets.ts';
import {
  ApiKey,
  ApiKeyInput,
  ApiKeyList,
  ApiKeyNameInput,
  ApiKeySpending,
  account,
  NewApiKey,
  RotationInput,
} from './schemas.ts';
import type { KeyService } from './service.ts';

const tag = 'API keys';
const access = anyOf(oauth('admin'));
const noKey = notFoundResponse('There is no such API key, or no such account');

export function keyRoutes(keys: KeyService, budgets: Pick<KeyBudgets, 'list'>): Route[] {
  async function accountId(name: string | undefined, principal: Principal): Promise<number> {
    return name === undefined ? (principal.accountId ?? 0) : (await keys.findAccount(name)).id;
  }

  return [
    route({
      method: 'GET',
      path: '/api-keys',
      operationId: 'listApiKeys',
      tag,
      summary: 'List the active API keys of an account',
      description: 'Keys that were revoked, replaced or have expired are left out.',
      access,
      query: { account },
      responses: {
        200: { description: 'The keys, the publishable ones with the key itself', schema: ApiKeyList },
        ...badRequestResponse('A parameter is not valid'),
        ...noKey,
      },
      handle: async ({ query, principal }) => {
        const items = await keys.list(await accountId(query.account, principal));
        return uncached(200, { items });
      },
    }),
    route({
      method: 'POST',
      dryRun: 'none',
      path: '/api-keys',
      operationId: 'createApiKey',
      tag,
      summary: 'Create an API key',
      description:
        'Only this response contains a secret key. An account can have three active secret keys, ten publishable and twenty restricted ones.',
      access,
      body: ApiKeyInput,
      responses: {
        201: { description: 'The key, with its secret', schema: NewApiKey },
        ...noKey,
        ...conflictResponse(
          'As many keys of this kind are active as there can be, or this environment does not accept keys of this type',
        ),
        ...unprocessableResponse,
      },
      handle: async ({ body, principal, withIdempotency }) => {
        const id = await accountId(body.account, principal);
        const { account: _, expiresIn, ...rest } = body;
        const lifetimeMs = expiresIn === undefined ? undefined : (parseDuration(expiresIn) ?? undefined);
        return withIdempotency(
          (context) => keys.create(context, id, { ...rest, lifetimeMs }),
          (key) => uncached(201, key),
        );
      },
    }),
    route({
      method: 'GET',
      path: '/api-keys/:keyId/spending',
      operationId: 'listApiKeySpending',
      examples: { keyId: 2 },
      tag,
      summary: 'List what a restricted key spent by day',
      description:
        'The days in UTC on which it ordered, the newest first, for 400 days. The keys that replaced each other by rotation share one budget.',
      access,
      responses: { 200: { description: 'The days', schema: ApiKeySpending }, ...noKey },
      handle: async ({ params }) => {
        const { actor } = await keys.find(parsePathId(params.keyId, 'There is no such API key.'));
        const items = (await budgets.list(actor)).map(({ day, cents, orders }) => ({
          day,
          dollars: cents / 100,
          orders,
        }));
        return uncached(200, { items });
      },
    }),
    route({
      method: 'POST',
      path: '/api-keys/:keyId',
      operationId: 'renameApiKey',
      examples: { keyId: 2 },
      tag,
      summary: 'Rename an API key',
      description: 'The name is for operators. The key, its scopes and its quota stay as they are.',
      access,
      body: ApiKeyNameInput,
      responses: {
        200: { description: 'The key, without its secret', schema: ApiKey },
        ...noKey,
        ...conflictResponse('The key has ended'),
        ...unprocessableResponse,
      },
      handle: ({ params, body, withIdempotency }) =>
        withIdempotency(
          (context) =>
            keys.rename(context, parsePathId(params.keyId, 'There is no such API key.'), body.name),
          (key) => uncached(200, key),
        ),
    }),
    route({
      method: 'POST',
      dryRun: 'none',
      path: '/api-keys/:keyId/rotate',
      operationId: 'rotateApiKey',
      examples: { keyId: 2 },
      tag,
      summary: 'Replace an API key',
      description:
        'Creates a key of the same kind with the same scopes and limits. Both keys are valid until the overlap ends; with 0s the old key ends at once.',
      access,
      body: RotationInput,
      bodyIsOptional: true,
      responses: {
        201: { description: 'The new key, with its secret', schema: NewApiKey },
        ...noKey,
        ...conflictResponse('The key has ended, or as many keys of its kind are active as there can be'),
        ...unprocessableResponse,
      },
      handle: ({ params, body, withIdempotency }) =>
        withIdempotency(
          (context) =>
            keys.rotate(
              context,
              parsePathId(params.keyId, 'There is no such API key.'),
              parseDuration(body.overlap ?? '24h') ?? 0,
              { makeAdmin: false },
            ),
          (key) => uncached(201, key),
        ),
    }),
    route({
      method: 'DELETE',
      path: '/api-keys/:keyId',
      operationId: 'revokeApiKey',
      tag,
      summary: 'Revoke an API key',
      description: 'The key is refused from the next request on. Revoking it again changes nothing.',
      access,
      responses: { 204: { description: 'The key was revoked' }, ...noKey },
      handle: async ({ params, context }) => {
        await keys.revoke(context, parsePathId(params.keyId, 'There is no such API key.'));
        return { status: 204 };
      },
    }),
  ];
}

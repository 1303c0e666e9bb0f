/** Routes of accounts, for operators. */
import { anyOf, oauth } from '../../access/access.ts';
import { parsePathId } from '../../http/pipeline/path-id.ts';
import {
  conflictResponse,
  notFoundResponse,
  unprocessableResponse,
} from '../../http/responses/error-responses.ts';
import { uncached } from '../../http/responses/response.ts';
import { type Route, route } from '../../http/route.ts';
import type { RateLimits } from '../../limits/rate-limits.ts';
import { Quota, toQuota } from '../../limits/schemas.ts';
import { int64, listOf, objectOf, timestampSchema } from '../../schema/parts.ts';
import { type AccountDetails, accountNameRule } from './accounts.ts';
import type { KeyService } from './service.ts';

const Account = {
  title: 'Account',
  ...objectOf({
    id: int64,
    name: { type: 'string' },
    plan: { type: 'string' },
    createdAt: timestampSchema,
    activeKeys: { type: 'integer', description: 'API keys that are accepted now' },
    quota: { ...Quota, description: 'What remains of the limits of the plan, as in `/whoami`' },
  }),
  examples: [
    {
      id: 3,
      name: 'warehouse',
      plan: 'pro',
      createdAt: '2026-01-15T09:30:00.000Z',
      activeKeys: 2,
      quota: {
        plan: 'pro',
        hour: { limit: 10_000, remaining: 9871, resetSeconds: 1742 },
        burst: { limit: 100, remaining: 99 },
      },
    },
  ],
} as const;

const AccountList = listOf('AccountList', Account);

const tag = 'Administration';
const access = anyOf(oauth('admin'));

interface Dependencies {
  readonly keys: KeyService;
  readonly rateLimits: Pick<RateLimits, 'read' | 'unused'>;
  readonly plans: readonly string[];
}

export function accountRoutes({ keys, rateLimits, plans }: Dependencies): Route[] {
  const plan = {
    type: 'string',
    maxLength: 100,
    description: 'free, pro, enterprise, or a plan of CURD_PLANS',
    rule: {
      test: (text: string) => plans.includes(text),
      message: `must be one of ${plans.join(', ')}`,
    },
  } as const;
  const AccountInput = {
    title: 'AccountInput',
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string', maxLength: 100, rule: accountNameRule }, plan },
    examples: [{ name: 'warehouse', plan: 'pro' }],
  } as const;
  const PlanInput = {
    title: 'PlanInput',
    type: 'object',
    required: ['plan'],
    properties: { plan },
    examples: [{ plan: 'pro' }],
  } as const;
  const shown = async (account: AccountDetails) => ({
    ...account,
    quota: toQuota(await rateLimits.read(account.id, account.plan)),
  });

  return [
    route({
      method: 'GET',
      path: '/accounts',
      operationId: 'listAccounts',
      tag,
      summary: 'List the accounts, which own API keys and OAuth clients',
      description: 'With the plan, the quota and the number of active keys of each.',
      access,
      responses: { 200: { description: 'All accounts', schema: AccountList } },
      handle: async () => {
        const items = await Promise.all((await keys.listAccountDetails()).map(shown));
        return uncached(200, { items });
      },
    }),
    route({
      method: 'POST',
      path: '/accounts',
      operationId: 'createAccount',
      tag,
      summary: 'Create an account',
      description: 'An account owns API keys and OAuth clients. Its plan decides its quota.',
      access,
      body: AccountInput,
      storesPlainResponse: true,
      responses: {
        201: { description: 'The new account', schema: Account },
        ...conflictResponse('An account with this name exists'),
        ...unprocessableResponse,
      },
      handle: ({ body, withIdempotency }) =>
        withIdempotency(
          (context) => keys.createAccount(context, body.name, body.plan),
          (account) => ({
            status: 201,
            body: { ...account, quota: toQuota(rateLimits.unused(account.plan)) },
          }),
        ),
    }),
    route({
      method: 'POST',
      path: '/accounts/:accountId/plan',
      operationId: 'changeAccountPlan',
      tag,
      summary: 'Move an account to another plan',
      description: 'The limits of the plan apply from the next request on.',
      access,
      body: PlanInput,
      storesPlainResponse: true,
      responses: {
        200: { description: 'The account', schema: Account },
        ...notFoundResponse('There is no such account'),
        ...unprocessableResponse,
      },
      handle: async ({ params, body, withIdempotency }) => {
        const id = parsePathId(params.accountId, 'There is no such account.');
        const quota = toQuota(await rateLimits.read(id, body.plan));
        return withIdempotency(
          (context) => keys.setPlan(context, id, body.plan),
          (account) => ({ status: 200, body: { ...account, quota } }),
        );
      },
    }),
  ];
}

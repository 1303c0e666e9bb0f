/** Routes that describe the credential of a request and the limits of the server. */
import type { Principal } from '../access/principal.ts';
import { uncached } from '../http/responses/response.ts';
import { type Route, route } from '../http/route.ts';
import { toQuota } from '../limits/schemas.ts';
import type { RateLimitStatus } from '../limits/usage-counter.ts';
import type { Config } from '../settings/config.ts';
import type { KeyBudgets } from './keys/budgets.ts';
import type { KeyService } from './keys/service.ts';
import type { CustomerDirectory } from './oauth/customer-directory.ts';
import type { ScopeApprovals } from './oauth/scope-approvals.ts';
import { Limits, WhoAmI } from './self-schemas.ts';

const tag = 'About';

interface Dependencies {
  readonly keys: KeyService;
  readonly budgets: Pick<KeyBudgets, 'today'>;
  readonly directory: CustomerDirectory;
  readonly approvals: Pick<ScopeApprovals, 'findOfToken'>;
  readonly config: Pick<
    Config,
    | 'environment'
    | 'plans'
    | 'sessionPlan'
    | 'addressLimits'
    | 'publishableLimits'
    | 'loginLimits'
    | 'ordersPerHour'
  >;
  /** Bounds of requests and stored data, by name. */
  readonly bounds: Readonly<Record<string, number>>;
}

export function selfRoutes(dependencies: Dependencies): Route[] {
  const { config, bounds } = dependencies;
  return [
    route({
      method: 'GET',
      path: '/whoami',
      operationId: 'explainCredential',
      tag,
      summary: 'Explain the credential in use',
      description:
        'Who you are for this server: the kind of the credential, its owner, its scopes, when it ends, and what is left of its quota.',
      access: 'any credential',
      permitsConfined: true,
      publishable: 'alone',
      responses: {
        200: { description: 'Its owner, its scopes, and the rest of its quota', schema: WhoAmI },
      },
      handle: async ({ principal, rateLimitStatus }) =>
        uncached(200, {
          environment: config.environment,
          ...(await describe(principal, dependencies)),
          quota: toQuota(rateLimitStatus() as RateLimitStatus),
        }),
    }),
    route({
      method: 'GET',
      path: '/limits',
      operationId: 'listLimits',
      tag,
      summary: 'List every limit of this server',
      description:
        'Plans and their quotas, limits by client IP, limits of logins and orders, and bounds of requests and stored data.',
      access: 'open',
      permitsConfined: true,
      publishable: 'alone',
      responses: { 200: { description: 'The limits of this server', schema: Limits } },
      handle: () => {
        const { environment, plans, sessionPlan, ordersPerHour } = config;
        const { addressLimits, publishableLimits, loginLimits } = config;
        const requests = { plans, sessionPlan, addressLimits, publishableLimits };
        return { status: 200, body: { environment, ...requests, loginLimits, ordersPerHour, bounds } };
      },
    }),
  ];
}

async function describe(principal: Principal, { keys, budgets, directory, approvals }: Dependencies) {
  const { kind, id, accountId, customerId, scopes, limits, tokenHash, expiresAt } = principal;
  const account = accountId === null ? undefined : await keys.findAccountById(accountId);
  const customer = customerId === null ? undefined : await directory.find(customerId);
  return {
    kind,
    id,
    account: account === undefined ? null : account.name,
    customer: customer === undefined ? null : customer.username,
    scopes: [...scopes],
    limits: limits === null ? null : { ...limits },
    ...(kind === 'restricted' ? { today: await budgets.today(id, limits ?? {}) } : {}),
    approval: kind === 'oauth' && tokenHash !== null ? await approvals.findOfToken(tokenHash) : null,
    expiresAt,
  };
}

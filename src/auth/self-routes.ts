/** What the server tells a caller about itself: every limit, and what it makes of the credential in use. */

import { type Route, route } from '../http/route.ts';
import type { RateLimitStatus } from '../limits/rate-limits.ts';
import type { Config } from '../settings/config.ts';
import type { KeyService } from './keys/service.ts';
import type { CustomerDirectory } from './oauth/customer-directory.ts';
import type { Principal } from './principal.ts';
import { Limits, WhoAmI } from './self-schemas.ts';

const tag = 'About';

interface Dependencies {
  readonly keys: KeyService;
  readonly people: CustomerDirectory;
  readonly config: Pick<
    Config,
    'environment' | 'plans' | 'sessionPlan' | 'addressLimits' | 'loginLimits' | 'ordersPerHour'
  >;
  /** Bounds of what is sent and stored, by what they are bounds of. */
  readonly bounds: Readonly<Record<string, number>>;
}

export function selfRoutes({ keys, people, config, bounds }: Dependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/whoami',
      operationId: 'explainCredential',
      tag,
      summary: 'Explain the credential in use',
      access: 'any credential',
      responses: {
        200: { description: 'Whose it is, what it may do, and what is left of its quota', schema: WhoAmI },
      },
      handle: async ({ principal, rateLimitStatus }) => ({
        status: 200,
        headers: { 'Cache-Control': 'no-store' },
        body: {
          environment: config.environment,
          ...(await described(principal, keys, people)),
          quota: quotaOf(rateLimitStatus() as RateLimitStatus),
        },
      }),
    }),
    route({
      method: 'GET',
      path: '/limits',
      operationId: 'listLimits',
      tag,
      summary: 'List every limit of this server',
      access: 'open',
      responses: { 200: { description: 'The figures that hold here', schema: Limits } },
      handle: () => {
        const { environment, plans, sessionPlan, addressLimits, loginLimits, ordersPerHour } = config;
        return {
          status: 200,
          body: { environment, plans, sessionPlan, addressLimits, loginLimits, ordersPerHour, bounds },
        };
      },
    }),
  ];
}

async function described(principal: Principal, keys: KeyService, people: CustomerDirectory) {
  const { kind, id, accountId, customerId, scopes, expiresAt } = principal;
  const account = accountId === null ? undefined : await keys.findAccountById(accountId);
  const person = customerId === null ? undefined : await people.find(customerId);
  return {
    kind,
    id,
    account: account === undefined ? null : account.name,
    customer: person === undefined ? null : person.username,
    scopes: [...scopes],
    expiresAt,
  };
}

function quotaOf({ plan, hour, burst }: RateLimitStatus) {
  return {
    plan,
    hour:
      hour === null
        ? null
        : { limit: hour.limit, remaining: hour.remaining, resetSeconds: Math.ceil(hour.resetMs / 1000) },
    burst: { limit: burst.limit, remaining: burst.remaining },
  };
}

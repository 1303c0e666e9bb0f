/** Opens the credentials: API keys, sessions of customers, access tokens. */
import type { Area, AreaDependencies } from '../http/area.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import { createGuard } from './guard.ts';
import { accountRoutes } from './keys/account-routes.ts';
import { createKeyBudgets } from './keys/budgets.ts';
import { createKeyResolver } from './keys/resolver.ts';
import { keyRoutes } from './keys/routes.ts';
import { createKeyService } from './keys/service.ts';
import { createWebOrigins } from './keys/web-origins.ts';
import { createGrants } from './oauth/grants.ts';
import { createTokenResolver } from './oauth/resolver.ts';
import { createSessions } from './sessions/service.ts';

interface Dependencies extends AreaDependencies {
  readonly rateLimits: RateLimits;
}

/** Operators are warned of a key in a web page after this time. */
const webOriginMs = 1000;

export function openAuth({ database, clock, log, config, site, rateLimits }: Dependencies) {
  const { environment, accountPlan } = config;
  const keys = createKeyService({ database, clock, environment, defaultPlan: accountPlan });
  const sessions = createSessions({ database, clock, config });
  const grants = createGrants(database, clock);
  const budgets = createKeyBudgets(database, clock, site);
  const webOrigins = createWebOrigins({
    database,
    clock,
    log,
    // A failure is tried again by the maintenance, which reports it.
    onNew: () => setTimeout(() => webOrigins.flush().catch(() => {}), webOriginMs).unref(),
  });
  const keyResolver = createKeyResolver({ database, clock, environment, webOrigins });
  return {
    provides: { keys, budgets, sessions, grants },
    keys,
    budgets,
    sessions,
    grants,
    guard: createGuard([keyResolver.resolve, sessions.resolve, createTokenResolver(database, clock)]),
    routes: [
      ...keyRoutes(keys, budgets),
      ...accountRoutes({ keys, rateLimits, plans: Object.keys(config.plans) }),
    ],
    tasks: [keyResolver.flushLastUsed, webOrigins.flush, budgets.purge, sessions.purge, grants.purge],
    async close() {
      await keyResolver.flushLastUsed();
      await webOrigins.flush();
    },
  } satisfies Area;
}

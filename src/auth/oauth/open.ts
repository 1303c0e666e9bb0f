/** Opens the authorization server, and what a credential can read about itself. */
import type { Area, AreaDependencies } from '../../http/area.ts';
import type { CountClientIp } from '../../limits/client-ip-limits.ts';
import { sendsMail } from '../../settings/mail.ts';
import type { KeyBudgets } from '../keys/budgets.ts';
import type { KeyService } from '../keys/service.ts';
import { selfRoutes } from '../self-routes.ts';
import { createClientService } from './clients.ts';
import { createConsoleClient } from './console-client.ts';
import { createConsoleLinks } from './console-links.ts';
import type { CustomerDirectory, Registration } from './customer-directory.ts';
import { oauthOperatorRoutes } from './operator-routes.ts';
import { createPageLayout } from './pages/pages.ts';
import { metadataRoute, oauthEndpoints, styleRoute } from './provider/endpoints.ts';
import { createScopeApprovals } from './scope-approvals.ts';

interface Dependencies extends AreaDependencies {
  readonly keys: KeyService;
  readonly budgets: KeyBudgets;
  readonly directory: CustomerDirectory;
  /** null if customers cannot register. */
  readonly registration: Registration | null;
  readonly countClientIp: CountClientIp;
  /** Bounds of requests and stored data, by name. */
  readonly bounds: Readonly<Record<string, number>>;
}

export function openOauth(dependencies: Dependencies) {
  const { database, clock, config, keys, budgets, directory, bounds, issuer, contextOf } = dependencies;
  const clients = createClientService(database, clock);
  const approvals = createScopeApprovals(database, clock);
  const consoleClient = createConsoleClient({ database, clock, keys, context: contextOf('system') });
  return {
    provides: { clients, approvals },
    clients,
    approvals,
    consoleLinks: createConsoleLinks({ database, clock, approvals, client: consoleClient }),
    routes: [
      ...oauthOperatorRoutes({ clients, approvals, keys }),
      ...selfRoutes({ keys, budgets, directory, approvals, config, bounds }),
      metadataRoute(issuer),
      styleRoute(),
    ],
    rawRoutes: oauthEndpoints({
      ...dependencies,
      approvals,
      consoleClient: config.console === 'on' ? consoleClient : null,
      hasMcp: config.mcp === 'on',
      page: createPageLayout(dependencies.site),
      secret: config.secret,
      hasForgotPassword: sendsMail(config, 'password-reset'),
    }),
  } satisfies Area;
}

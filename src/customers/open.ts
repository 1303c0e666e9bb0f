/** Opens the customers: profiles, login, administration. */
import type { Registration } from '../auth/oauth/customer-directory.ts';
import type { OAuthGrants } from '../auth/oauth/grants.ts';
import { createPageLayout } from '../auth/oauth/pages/pages.ts';
import type { Passwords } from '../auth/passwords.ts';
import type { Sessions } from '../auth/sessions/service.ts';
import { cheeseDeleted } from '../cheeses/hook-points.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { createCursors } from '../cursor.ts';
import type { Context } from '../database/context.ts';
import { requireNoErrors } from '../errors.ts';
import { type Hook, hookOn } from '../hooks/hooks.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { gauge } from '../http/metrics/metrics.ts';
import type { CountClientIp } from '../limits/client-ip-limits.ts';
import { validate } from '../schema/validate.ts';
import { createCustomerAdministration } from './administration.ts';
import { createCustomerFinder } from './customer-finder.ts';
import { customerDeleted } from './hook-points.ts';
import { createLogin } from './login/login.ts';
import { createLoginThrottle } from './login/login-throttle.ts';
import { createKnownNetworks } from './login/networks.ts';
import { createNewPasswords } from './login/new-passwords.ts';
import { passwordResetPages } from './login/password-reset-pages.ts';
import { customerOperatorRoutes } from './operator-routes.ts';
import { customerQueries } from './queries.ts';
import { customerRoutes } from './routes.ts';
import { type CustomerInput, customerInput } from './schemas.ts';
import { createCustomerSearch } from './search/search.ts';
import { type CustomerService, createCustomerService } from './service.ts';

interface Dependencies extends AreaDependencies {
  readonly cheeses: CheeseService;
  readonly sessions: Sessions;
  readonly grants: OAuthGrants;
  readonly passwords: Passwords;
  readonly countClientIp: CountClientIp;
}

export function openCustomers(dependencies: Dependencies) {
  const { database, clock, config, cheeses, sessions, passwords, issuer, contextOf } = dependencies;
  const { secret, registration, passwordLengthMin } = config;
  const newPasswords = createNewPasswords(passwords, config.environment === 'local');
  const throttle = createLoginThrottle({ database, clock, limits: config.loginLimits, secret });
  const networks = createKnownNetworks(database, clock, secret);
  const login = createLogin({ database, passwords, sessions, throttle, networks });
  const service = createCustomerService({ ...dependencies, newPasswords, tiers: config.tiers });
  const administration = createCustomerAdministration({
    ...dependencies,
    newPasswords,
    throttle,
    directory: login,
  });
  const finder = createCustomerFinder(database, cheeses);
  const search = createCustomerSearch(database, createCursors(secret, 'customers'), cheeses);
  /** Used by pages of the authorization server; null if customers cannot register. */
  const pageRegistration =
    registration === 'open' ? createRegistration(service, passwordLengthMin, contextOf('anonymous')) : null;
  return {
    provides: {
      customers: service,
      customerFinder: finder,
      customerSearch: search,
      administration,
      directory: login,
      registration: pageRegistration,
    },
    service,
    login,
    loginThrottle: throttle,
    networks,
    administration,
    search,
    finder,
    routes: [
      ...customerRoutes({ customers: service, login, registration, passwordLengthMin }),
      ...customerOperatorRoutes(administration, search, issuer),
    ],
    rawRoutes: passwordResetPages({
      ...dependencies,
      administration,
      page: createPageLayout(dependencies.site),
      secret,
      passwordLengthMin,
    }),
    hooks: [
      hookOn(cheeseDeleted, 'customer', service.onCheeseDelete),
      ...deletionHooks(sessions, dependencies.grants),
    ],
    tasks: [throttle.purge, networks.purge, administration.purge],
    gauges: [
      gauge('curd_passwords', 'Passwords that are being hashed or verified, or wait for it.', () => {
        const { running, waiting } = passwords.stats();
        return { '{state="running"}': running, '{state="waiting"}': waiting };
      }),
    ],
  } satisfies Area;
}

/**
 * Registers a customer from the form of a page, with the rules of POST /customer.
 * @param context of changes that no request of the API makes
 */
function createRegistration(
  customers: Pick<CustomerService, 'register'>,
  passwordLengthMin: number,
  context: Context,
): Registration {
  const schema = customerInput(passwordLengthMin);
  return {
    async register(fields) {
      const { value, errors } = validate(schema, fields);
      requireNoErrors(errors);
      return (await customers.register(context, value as CustomerInput)).id;
    },
  };
}

/** What is deleted with a customer, besides what other areas have. */
function deletionHooks(
  sessions: Pick<Sessions, 'endAll'>,
  grants: Pick<OAuthGrants, 'deleteCustomer'>,
): Hook[] {
  return [
    hookOn(customerDeleted, 'session', (tx, context, { id }) => sessions.endAll(tx, context, id, null)),
    hookOn(customerDeleted, 'password_reset', (tx, _, { id }) => customerQueries(tx).deleteResetOf(id)),
    hookOn(customerDeleted, 'oauth_object', (tx, context, { id }) => grants.deleteCustomer(tx, context, id)),
    hookOn(customerDeleted, 'login_network', (tx, _, { id }) => customerQueries(tx).deleteNetworks(id)),
  ];
}

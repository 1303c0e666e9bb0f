/** Lets customers in: the throttle first, then the password, then a session. */
import type { CustomerDirectory } from '../auth/oauth/customer-directory.ts';
import type { Passwords } from '../auth/passwords.ts';
import type { Sessions } from '../auth/sessions/service.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql, Transaction } from '../database/database.ts';
import { AppError, invalidCredential } from '../errors.ts';
import { caseFold } from './case-fold.ts';
import type { LoginOutcome, LoginThrottle } from './login-throttle.ts';
import type { KnownNetworks } from './networks.ts';
import { findByUsername } from './profile.ts';
import { type CustomerRow, customerQueries } from './queries.ts';

export interface LoginService extends CustomerDirectory {
  /**
   * Unknown usernames and wrong passwords get the same answer after the same time.
   * @throws AppError unauthorized, rateLimited, unavailable
   */
  login(
    context: Context,
    credentials: Credentials,
    address: string,
  ): Promise<{ token: string; expiresAt: string }>;
  /** @throws AppError unauthorized where the session has ended already */
  logout(context: Context, sessionHash: string | null): Promise<void>;
}

interface Credentials {
  readonly username: string;
  readonly password: string;
}

interface Dependencies {
  readonly database: Database;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly throttle: LoginThrottle;
  readonly networks: KnownNetworks;
}

export function createLogin(dependencies: Dependencies): LoginService {
  const { database, passwords, sessions, throttle, networks } = dependencies;

  /** @throws AppError unauthorized, unavailable */
  async function verify(customer: CustomerRow | undefined, password: string): Promise<CustomerRow> {
    const isRight = await passwords.verify(customer?.password ?? null, password);
    if (customer === undefined || !isRight) {
      throw wrong();
    }
    return customer;
  }

  /** Throttle and password, then `enter` in the transaction that opens the session. */
  async function admit<T>(
    { username, password }: Credentials,
    address: string,
    transaction: Transaction,
    prepare: (customer: CustomerRow) => Promise<(tx: Sql) => Promise<T>>,
  ): Promise<T> {
    const found = await findByUsername(database, username);
    const isKnown = await networks.isKnown(found?.id ?? null, address);
    const attempt = await throttle.recordAttempt(caseFold(username), address, isKnown);
    let outcome: LoginOutcome = 'unverified';
    try {
      const customer = await verify(found, password);
      const renewed = passwords.isOutdated(customer.password) ? await passwords.hash(password) : null;
      const enter = await prepare(customer);
      const entered = await transaction(async (tx) => {
        const current = await customerQueries(tx).lockForUpdate(customer.id);
        if (current?.password !== customer.password) {
          throw wrong();
        }
        if (renewed !== null) {
          await customerQueries(tx).updatePassword(customer.id, renewed);
        }
        const [entered] = await Promise.all([enter(tx), networks.remember(tx, customer.id, address)]);
        return entered;
      });
      outcome = 'succeeded';
      return entered;
    } catch (error) {
      // validation: the Idempotency-Key was used for another request.
      if (error instanceof AppError && ['unauthorized', 'validation'].includes(error.code)) {
        outcome = 'failed';
      }
      throw error;
    } finally {
      await attempt.end(outcome);
    }
  }

  return {
    authenticate: (username, password, address) =>
      admit(
        { username, password },
        address,
        database.transaction,
        async ({ id }) =>
          async () =>
            id,
      ),

    find: (customerId) => customerQueries(database).findSummary(customerId),

    login: (context, credentials, address) =>
      admit(credentials, address, context.transaction, async ({ id }) => {
        const session = await sessions.issue(id);
        return async (tx) => {
          await sessions.open(tx, session);
          return { token: session.token, expiresAt: session.expires_at };
        };
      }),

    logout: (context, sessionHash) =>
      context.transaction(async (tx) => {
        if (sessionHash === null || !(await sessions.end(tx, sessionHash))) {
          throw invalidCredential('The session has ended already.');
        }
      }),
  };
}

function wrong(): AppError {
  return new AppError('unauthorized', 'The username or the password is wrong.', {
    details: { credential: 'missing' },
  });
}

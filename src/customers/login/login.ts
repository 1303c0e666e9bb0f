/** Logs customers in: the throttle, then the password, then a session. */
import type { CustomerDirectory } from '../../auth/oauth/customer-directory.ts';
import type { Passwords } from '../../auth/passwords.ts';
import type { Sessions } from '../../auth/sessions/service.ts';
import type { Context } from '../../database/context.ts';
import type { Database, Sql, Transaction } from '../../database/database.ts';
import { AppError, invalidCredential } from '../../errors.ts';
import { caseFold } from '../../schema/case-fold.ts';
import { findByUsername } from '../profile.ts';
import { type CustomerRow, customerQueries } from '../queries.ts';
import type { LoginOutcome, LoginThrottle } from './login-throttle.ts';
import type { KnownNetworks } from './networks.ts';

export interface LoginService extends CustomerDirectory {
  /**
   * An unknown username gets the same response as a wrong password, after the same time.
   * @throws AppError unauthorized, rateLimited, unavailable
   */
  login(
    context: Context,
    credentials: Credentials,
    clientIp: string,
  ): Promise<{ token: string; expiresAt: string }>;
  /** @throws AppError unauthorized when the session has ended already */
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
    const isCorrect = await passwords.verify(customer?.password ?? null, password);
    if (customer === undefined || !isCorrect) {
      throw wrongCredentials();
    }
    return customer;
  }

  /**
   * Checks throttle and password. `prepare` runs before the transaction, and the function that it returns runs in it.
   */
  async function authenticate<T>(
    { username, password }: Credentials,
    clientIp: string,
    transaction: Transaction,
    prepare: (customer: CustomerRow) => Promise<(tx: Sql) => Promise<T>>,
  ): Promise<T> {
    const found = await findByUsername(database, username);
    const isKnown = await networks.isKnown(found?.id ?? null, clientIp);
    const attempt = await throttle.recordAttempt(caseFold(username), clientIp, isKnown);
    let outcome: LoginOutcome = 'unverified';
    try {
      const customer = await verify(found, password);
      const newHash = passwords.isOutdated(customer.password) ? await passwords.hash(password) : null;
      const finish = await prepare(customer);
      const result = await transaction(async (tx) => {
        const current = await customerQueries(tx).lockForUpdate(customer.id);
        if (current?.password !== customer.password) {
          throw wrongCredentials();
        }
        if (newHash !== null) {
          await customerQueries(tx).updatePassword(customer.id, newHash);
        }
        const [finished] = await Promise.all([finish(tx), networks.remember(tx, customer.id, clientIp)]);
        return finished;
      });
      outcome = 'succeeded';
      return result;
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
    authenticate: (username, password, clientIp) =>
      authenticate(
        { username, password },
        clientIp,
        database.transaction,
        async ({ id }) =>
          async () =>
            id,
      ),

    find: (customerId) => customerQueries(database).findSummary(customerId),

    login: (context, credentials, clientIp) =>
      authenticate(credentials, clientIp, context.transaction, async ({ id }) => {
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

function wrongCredentials(): AppError {
  return new AppError('unauthorized', 'The username or the password is wrong.', {
    details: { credential: 'missing' },
  });
}

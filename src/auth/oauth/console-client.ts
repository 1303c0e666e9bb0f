/**
 * The OAuth client of the operator's console. It is built in: public, with PKCE, the scopes of its screens, and one redirect URI on this
 * server. The first sign-in creates it, with an account that cannot have API keys.
 */

import type { Scope } from '../../access/access.ts';
import { type Clock, timestamp } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import { ConstraintError, type Database } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { consoleAccount, type KeyService } from '../keys/service.ts';
import { consoleClientId } from './clients.ts';
import { type ClientRow, oauthQueries } from './queries.ts';

/** What the screens of staff need, and what operators need. Nothing that a person does as a customer. */
const consoleScopes: readonly Scope[] = ['read:cheeses', 'write:cheeses', 'admin'];

export type ConsoleClient = ReturnType<typeof createConsoleClient>;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly keys: KeyService;
  readonly context: Context;
}

export function createConsoleClient({ database, clock, keys, context }: Dependencies) {
  async function accountId(): Promise<number> {
    try {
      return (await keys.createAccount(context, consoleAccount, 'enterprise')).id;
    } catch (error) {
      // It exists already, or another server creates it at this moment.
      if (error instanceof AppError && error.code === 'conflict') {
        return (await keys.findAccount(consoleAccount)).id;
      }
      throw error;
    }
  }

  async function create(): Promise<void> {
    const row = {
      id: consoleClientId,
      account_id: await accountId(),
      name: 'Console',
      secret_hash: null,
      // The adapter of the authorization server adds the redirect URI, which depends on the public URL.
      redirect_uris: '[]',
      grants: 'authorization_code refresh_token',
      scopes: consoleScopes.join(' '),
      is_native: 0,
      created_at: timestamp(clock.now()),
    };
    try {
      await context.transaction((tx) => oauthQueries(tx).insertClient(row));
    } catch (error) {
      if (!(error instanceof ConstraintError)) {
        throw error;
      }
    }
  }

  return {
    /** The client; created if it does not exist yet. */
    async findOrCreate() {
      const found = await oauthQueries(database).findClient(consoleClientId);
      if (found !== undefined) {
        return found;
      }
      await create();
      return (await oauthQueries(database).findClient(consoleClientId)) as ClientRow;
    },
  };
}

/** Accounts, with the default plan or another one, which own API keys and OAuth clients. */
import { type Clock, timestamp } from '../../clock.ts';
import { commandName } from '../../command-name.ts';
import type { Context } from '../../database/context.ts';
import { ConstraintError, type Database } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { recordEvents } from '../../event-log/record.ts';
import { accountEvents } from './event-types.ts';
import { type AccountDetailsRow, type AccountRow, keyQueries } from './queries.ts';

export interface AccountDetails {
  readonly id: number;
  readonly name: string;
  readonly plan: string;
  readonly createdAt: string;
  readonly activeKeys: number;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  /** Plan of accounts that are created without one. */
  readonly defaultPlan: string;
}

const accountName = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,99}$/u;

/** The rule for names of new accounts. */
export const accountNameRule = {
  test: (text: string) => accountName.test(text),
  message: 'must have 1 to 100 letters, digits, spaces or . _ @ - and start with a letter or digit',
};

export function createAccountService({ database, clock, defaultPlan }: Dependencies) {
  const now = () => timestamp(clock.now());

  return {
    /** @throws AppError badRequest, conflict when the name exists */
    createAccount: (context: Context, name: string, plan: string = defaultPlan) =>
      context.transaction(async (tx) => {
        if (!accountNameRule.test(name)) {
          throw new AppError('badRequest', `An account name ${accountNameRule.message}.`);
        }
        const createdAt = now();
        try {
          const row = (await keyQueries(tx).insertAccount({ name, plan, createdAt })) as AccountRow;
          const event = accountEvents.created.of(`account:${row.id}`, { id: row.id, plan });
          await recordEvents(tx, context.origin, createdAt, [event]);
          return { ...row, createdAt, activeKeys: 0 };
        } catch (error) {
          throw error instanceof ConstraintError
            ? new AppError('conflict', `An account named "${name}" exists already.`, {
                cause: error,
                errors: [{ field: 'name', message: 'belongs to another account' }],
              })
            : error;
        }
      }),

    listAccounts: () => keyQueries(database).listAccounts(),

    async listAccountDetails() {
      return (await keyQueries(database).listAccountDetails(now())).map(toDetails);
    },

    /** Applies from the next request on. @throws AppError notFound */
    setPlan: (context: Context, id: number, plan: string) =>
      context.transaction(async (tx) => {
        if ((await keyQueries(tx).updatePlan(id, plan)) > 0) {
          const event = accountEvents.planChanged.of(`account:${id}`, { id, plan });
          await recordEvents(tx, context.origin, now(), [event]);
        }
        const row = await keyQueries(tx).findAccountDetails(id, now());
        if (row === undefined) {
          throw new AppError('notFound', `There is no account with the id ${id}.`);
        }
        return toDetails(row);
      }),

    /** @throws AppError notFound */
    async findAccount(name: string) {
      const row = await keyQueries(database).findAccount(name);
      if (row === undefined) {
        throw new AppError(
          'notFound',
          `There is no account named "${name}". "${commandName} accounts list" shows the accounts.`,
        );
      }
      return row;
    },

    findAccountById: (id: number) => keyQueries(database).findAccountById(id),
  };
}

function toDetails({ id, name, plan, created_at, active_keys }: AccountDetailsRow): AccountDetails {
  return { id, name, plan, createdAt: created_at, activeKeys: active_keys };
}

/** Runs the changes of a group in one transaction on PostgreSQL. */
import { AppError } from '../../errors.ts';
import type { Sql } from '../database.ts';
import { type ChangeOutcome, untilLate, type Work } from '../group-commit.ts';
import { endsTransaction, isLockTimeout, translatePostgresError } from './postgres-errors.ts';
import type { PostgresTransaction } from './transaction.ts';

/** Changes that would begin later are in the next group. */
const groupMs = 100;

/** Runs `work` in a transaction and resolves after the commit. Errors are translated. */
export type RunTransaction = <T>(
  work: (sql: Sql, transaction: PostgresTransaction) => Promise<T>,
) => Promise<T>;

/** Returns the function that commits a group, see group-commit.ts. */
export function groupCommit(
  runTransaction: RunTransaction,
): (works: readonly Work[], hasSavepoints: boolean) => Promise<ChangeOutcome[] | null> {
  /** Uses no savepoints: the first statement of a change is sent together with the last ones of the change before. */
  async function runTogether(works: readonly Work[]): Promise<ChangeOutcome[] | null> {
    let begun = 0;
    try {
      return await runTransaction(async (sql) => {
        const outcomes: ChangeOutcome[] = [];
        begun = 0;
        for (const work of untilLate(works, groupMs)) {
          begun += 1;
          outcomes.push({ value: await work(sql) });
        }
        return outcomes;
      });
    } catch (error) {
      if (begun === 0 || endsGroup(error, begun === 1)) {
        throw error;
      }
      return begun === 1 ? [{ error }] : null;
    }
  }

  function runInSavepoints(works: readonly Work[]): Promise<ChangeOutcome[]> {
    return runTransaction(async (sql, transaction) => {
      const outcomes: ChangeOutcome[] = [];
      for (const work of untilLate(works, groupMs)) {
        outcomes.push(await runInSavepoint(work, transaction, sql, outcomes.length === 0));
      }
      return outcomes;
    });
  }

  return (works, hasSavepoints) => (hasSavepoints ? runInSavepoints(works) : runTogether(works));
}

/** The first change waits for the lock that all changes of the group need. Each of them would wait as long. */
function endsGroup(error: unknown, isFirst: boolean): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  return endsTransaction(cause) || (isFirst && isLockTimeout(cause));
}

async function runInSavepoint(
  work: Work,
  transaction: PostgresTransaction,
  sql: Sql,
  isFirst: boolean,
): Promise<ChangeOutcome> {
  // Sent together with the first statement. If it fails, the statements after it fail too.
  transaction.query('savepoint one').catch(() => {});
  try {
    const value = await work(sql);
    await transaction.allSent();
    await transaction.query('release savepoint one');
    return { value };
  } catch (error) {
    // A statement that was sent failed before the work did.
    const failure = (await transaction.takeFailure()) ?? error;
    if (endsGroup(failure, isFirst)) {
      throw failure;
    }
    await Promise.all([
      transaction.query('rollback to savepoint one'),
      transaction.query('release savepoint one'),
    ]);
    return { error: translatePostgresError(failure) };
  }
}

/** Dry runs: a change is made completely in its transaction, and then rolled back. */
import type { Clock } from '../clock.ts';
import type { Sql, Transaction } from './database.ts';
import { generatedId, type Statement, shortLockTimeout, sql } from './sql.ts';

/** How many effects of a dry run are listed. */
const listedMax = 1000;

/** The members of an event that a dry run shows. `data` is JSON. */
interface EventEffect {
  readonly type: string;
  readonly subject: string;
  readonly data: string;
}

/** Changes that have no event of their own. */
export type CountedEffect =
  | 'favourites.detached'
  | 'grants.ended'
  | 'images.unreferenced'
  | 'orders.anonymized'
  | 'sessions.ended';

/** Limits what one dry run costs others. */
export interface DryRunLimit {
  /** When its transaction begins, or runs again. @throws AppError rateLimited */
  begin(): void;
  /** Counts changes while the transaction makes them. @throws AppError rateLimited */
  count(changes: number): void;
}

const unlimited: DryRunLimit = { begin: () => {}, count: () => {} };

/** What a dry run would have changed, in order. */
export class Effects {
  readonly #limit: DryRunLimit;
  readonly #isShown: (subject: string) => boolean;
  #listed: string[] = [];
  #more = 0;

  /** @param isShown whether the caller may see effects on a subject; others are only counted */
  constructor(limit = unlimited, isShown = (_subject: string) => true) {
    this.#limit = limit;
    this.#isShown = isShown;
  }

  /** The JSON of each listed effect. */
  get listed(): readonly string[] {
    return this.#listed;
  }

  /** How many effects are not listed. */
  get more(): number {
    return this.#more;
  }

  addEvents(events: readonly EventEffect[]): void {
    this.#limit.count(events.length);
    for (const { type, subject, data } of events) {
      if (!this.#isShown(subject)) {
        this.#more += 1;
        continue;
      }
      this.#add(`{"type":${JSON.stringify(type)},"subject":${JSON.stringify(subject)},"data":${data}}`);
    }
  }

  addCount(type: CountedEffect, count: number): void {
    if (count > 0) {
      this.#limit.count(count);
      this.#add(JSON.stringify({ type, count }));
    }
  }

  /** When the transaction begins, or runs again. @throws AppError rateLimited */
  begin(): void {
    this.#limit.begin();
    this.#listed = [];
    this.#more = 0;
  }

  #add(effect: string): void {
    if (this.#listed.length < listedMax) {
      this.#listed.push(effect);
    } else {
      this.#more += 1;
    }
  }
}

/** Ends the transaction of a dry run. */
class RolledBack extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super('the transaction of a dry run ends with a rollback');
    this.result = result;
  }
}

/** The last id of each dry run that is under way. */
const lastIds = new WeakMap<Sql, number>();

/**
 * A transaction function for one dry run: it rolls the work back and returns its result. It can be used once, because a
 * second transaction would not see the changes of the first.
 */
export function rollingBack(transaction: Transaction, effects: Effects, clock: Clock): Transaction {
  let isUsed = false;
  return async <T>(work: (sql: Sql) => Promise<T>): Promise<T> => {
    if (isUsed) {
      throw new Error('This operation has several transactions: declare it with dryRun "none".');
    }
    isUsed = true;
    try {
      return await transaction(async (tx) => {
        // The adapter runs the work again after a deadlock.
        effects.begin();
        if (tx.engine === 'postgres') {
          // A dry run holds its locks as long as the change would: it gives up before real changes do.
          await tx.get(shortLockTimeout);
        }
        const dryTx = { ...tx };
        // A random start: two dry runs must not wait for each other's rows.
        lastIds.set(dryTx, -Buffer.from(clock.random(6)).readUIntBE(0, 6));
        const result = await work(dryTx);
        if (tx.engine === 'postgres') {
          // The error of a statement that was sent without waiting would be lost with the rollback.
          await tx.get(sql`select 1 as answered`);
        }
        throw new RolledBack(result);
      });
    } catch (error) {
      if (error instanceof RolledBack) {
        return error.result as T;
      }
      throw error;
    }
  };
}

/** Whether the transaction is that of a dry run. */
export function isDryRun(tx: Sql): boolean {
  return lastIds.has(tx);
}

/** An id for a row of a dry run: negative, so that it is the id of nothing. */
export function nextDryId(tx: Sql): number {
  const id = (lastIds.get(tx) ?? 0) - 1;
  lastIds.set(tx, id);
  return id;
}

/**
 * The id of a row to insert. Every insert that uses a sequence needs it, because sequences of PostgreSQL do not roll
 * back: dry runs would use up the ids of real rows.
 */
export function newId(tx: Sql): Statement {
  return isDryRun(tx) ? sql`${nextDryId(tx)}` : generatedId;
}

/**
 * The id of a row that is inserted later: statements that contain it are sent together with the insert. Null on SQLite,
 * where an insert returns its id without a round trip. Sequences do not roll back: a change that is refused afterwards
 * leaves a gap.
 */
export async function reserveId(tx: Sql, sequence: string): Promise<number | null> {
  if (isDryRun(tx)) {
    return nextDryId(tx);
  }
  const row =
    tx.engine === 'sqlite' ? null : await tx.get<{ id: number }>(sql`select nextval(${sequence}) as id`);
  return row?.id ?? null;
}

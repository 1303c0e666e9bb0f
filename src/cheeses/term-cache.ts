/**
 * Ids of the terms that changes of the catalogue need. On PostgreSQL they are known before the catalogue is locked, so
 * that other changes wait for fewer round trips: terms are only added, and their ids never change, so a process caches
 * them. SQLite has no round trips: there, terms are looked up in the transaction of the change.
 */
import { batchCalls } from '../database/batch-calls.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { readDatabaseStamp } from '../events/log-reader.ts';
import { cheeseToDraft, type Draft, toCheese } from './drafts.ts';
import { cheeseQueries } from './queries.ts';
import { type Cheese, parseCheese } from './schemas.ts';
import { findTermIds, type TermIds, termKeyOf } from './search-index.ts';
import { createTerms, type Term } from './search-terms.ts';

/** About 100 bytes each. */
const cachedMax = 100_000;

/** Ids of terms that were found before a transaction. */
export interface KnownTerms {
  readonly ids: ReadonlyMap<string, number>;
  /** Of the database that they are from. */
  readonly stamp: string;
}

export interface TermCache {
  /**
   * The ids of all terms of new cheeses. Terms that do not exist are created in a separate transaction: one that no
   * cheese uses does no harm. Undefined where terms are looked up in the transaction.
   */
  ofNew(context: Context, drafts: readonly Draft[]): Promise<KnownTerms | undefined>;
  /** The same for a stored cheese before and after a change. If another change comes between, some are missing. */
  ofChanged(
    context: Context,
    find: () => Promise<{ readonly body: string } | undefined> | undefined,
    change: (current: Cheese) => Draft,
  ): Promise<KnownTerms | undefined>;
  /**
   * The ids, in a transaction. None if its database is another one than before: after a failover, the last terms may be
   * missing, and their ids may be used again.
   * @param drafts of new cheeses, whose terms are looked up at once where none are known
   */
  idsIn(tx: Sql, known: KnownTerms | undefined, drafts?: readonly Draft[]): Promise<TermIds>;
}

export function createTermCache(database: Database): TermCache {
  const cached: TermIds = new Map();
  /** Of the database that the cached ids are from. */
  let stamp: string | undefined;
  const stamps = new WeakMap<Sql, string>();

  /** Null where one of the terms is not cached. */
  function findCached(terms: readonly Term[]): KnownTerms | null {
    const ids: TermIds = new Map();
    for (const term of terms) {
      const key = termKeyOf(term);
      const id = cached.get(key);
      if (id === undefined) {
        return null;
      }
      ids.set(key, id);
    }
    return stamp === undefined ? null : { ids, stamp };
  }

  const findOrCreate = batchCalls(async (inputs: readonly (readonly Term[])[]) => {
    // Before the terms are found: a failover in between is then noticed.
    const from = stamp ?? (await readDatabaseStamp(database));
    const terms = inputs.flat();
    const ids = await findTermIds(database, terms);
    const missing = terms.filter((term) => !ids.has(termKeyOf(term)));
    if (missing.length > 0) {
      const created = await database.transaction(async (tx) => {
        await cheeseQueries(tx).lockCatalogue();
        // Another instance may have created some of them.
        await cheeseQueries(tx).insertMissingTerms(missing);
        return findTermIds(tx, missing);
      });
      for (const [key, id] of created) {
        ids.set(key, id);
      }
    }
    if (cached.size + ids.size > cachedMax) {
      cached.clear();
    }
    stamp = from;
    for (const [key, id] of ids) {
      cached.set(key, id);
    }
    return inputs.map(() => ({ ids, stamp: from }));
  });

  async function idsOf(context: Context, drafts: readonly Draft[]): Promise<KnownTerms | undefined> {
    // A dry run creates no terms that stay.
    if (database.engine === 'sqlite' || context.origin.effects !== null) {
      return undefined;
    }
    const terms = termsOfNew(drafts);
    return findCached(terms) ?? (await findOrCreate(terms));
  }

  return {
    ofNew: idsOf,

    async ofChanged(context, find, change) {
      const row = database.engine === 'sqlite' ? undefined : await find();
      if (row === undefined) {
        return undefined;
      }
      const current = parseCheese(row.body);
      const drafts = [cheeseToDraft(current)];
      try {
        drafts.push(change(current));
      } catch {
        // A change that is refused: it is refused again under the lock, after the checks that come first.
      }
      return idsOf(context, drafts);
    },

    async idsIn(tx, known, drafts = []) {
      if (known === undefined) {
        return tx.engine === 'sqlite' || drafts.length === 0
          ? new Map()
          : findTermIds(tx, termsOfNew(drafts));
      }
      // Once for all changes of a group.
      const now = stamps.get(tx) ?? (await readDatabaseStamp(tx));
      stamps.set(tx, now);
      if (now !== stamp) {
        cached.clear();
        stamp = undefined;
      }
      return new Map(now === known.stamp ? known.ids : []);
    },
  };
}

function termsOfNew(drafts: readonly Draft[]): Term[] {
  const termsOf = createTerms();
  const supplied = { id: 0, createdAt: '', updatedAt: '' };
  return drafts.flatMap((draft) => termsOf(toCheese(draft, () => 0, supplied)));
}

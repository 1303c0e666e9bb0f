/**
 * Reads by key that every request needs, cheap and never staler than the request.
 *
 * On PostgreSQL they are batched. On SQLite rows are cached until any process commits: a read takes 6 us in a loop, but
 * 30 us between requests, when its pages and code have left the CPU cache.
 */
import type { MaybePromise } from '../maybe-promise.ts';
import { batchCalls } from './batch-calls.ts';
import { createCache } from './cache.ts';
import type { Database } from './database.ts';
import { type Statement, sql } from './sql.ts';

/** Memory for the rows of one lookup: tens of thousands of most kinds. */
const cachedBytesMax = 16 * 1024 * 1024;

/** One row that every look-up on PostgreSQL reads along, in its own statement, so that it costs no round trip. */
export interface Companion {
  /** Returns exactly one row, whose columns have names that no table has. */
  readonly statement: Statement;
  /** Called with that row before the look-up returns. */
  readonly note: (row: never) => void;
}

const companions = new WeakMap<Database, Companion>();

/** Lets all look-ups read the row from now on. On SQLite they do not: there, a look-up of its own costs nothing. */
export function readAlong(database: Database, companion: Companion): void {
  companions.set(database, companion);
}

interface LookupStatements<Row> {
  readonly one: (key: string) => Statement;
  readonly many: (keys: readonly string[]) => Statement;
  readonly keyOf: (row: Row) => string;
}

/** Returns a function from a key to its row. It returns a cached row synchronously. */
export function createLookup<Row>(
  database: Database,
  { one, many, keyOf }: LookupStatements<Row>,
): (key: string) => MaybePromise<Row | undefined> {
  return database.dataVersion() === null ? together(database, many, keyOf) : remembering(database, one);
}

function remembering<Row>(
  database: Database,
  one: (key: string) => Statement,
): (key: string) => MaybePromise<Row | undefined> {
  const rows = createCache<Row | undefined>(cachedBytesMax);
  let stamp: number | null = null;

  async function read(key: string, now: number | null): Promise<Row | undefined> {
    const row = await database.get<Row>(one(key));
    // A commit during the read has cleared the cache for a newer version: this row must not enter it.
    if (stamp === now) {
      rows.set(key, row);
    }
    return row;
  }

  return (key) => {
    const now = database.dataVersion();
    if (now !== stamp) {
      rows.clear();
      stamp = now;
    }
    return rows.has(key) ? rows.get(key) : read(key, now);
  };
}

function together<Row>(
  database: Database,
  many: (keys: readonly string[]) => Statement,
  keyOf: (row: Row) => string,
): (key: string) => Promise<Row | undefined> {
  return batchCalls(async (keys: readonly string[]) => {
    const statement = many([...new Set(keys)]);
    const companion = companions.get(database);
    const found = await database.all<Row>(
      companion === undefined
        ? statement
        : sql`select * from (${companion.statement}) as companion left join (${statement}) as found on true`,
    );
    companion?.note(found[0] as never);
    // The only row of a look-up without a match has the columns of the companion.
    const rows = new Map(found.map((row) => [keyOf(row), row]));
    return keys.map((key) => rows.get(key));
  });
}

/** How many of PostgreSQL's transaction ids are used: it refuses changes when it has no more. */
import type { Sql } from '../database.ts';
import { sql } from '../sql.ts';
import { type Finding, Findings } from './findings.ts';

/** PostgreSQL refuses changes some millions before the age of 2 to the power of 31. */
const refusedAt = 2_100_000_000;
const notedFrom = 1_000_000_000;

/** A note if vacuum lags behind. SQLite has no such ids. @param from the age in ids, only for tests */
export async function checkTransactionIds(snapshot: Sql, from = notedFrom): Promise<Finding[]> {
  const old = new Findings(
    'transaction ids are used faster than vacuum frees them',
    'end transactions, replication slots and prepared transactions that are old, and let autovacuum freeze faster: see "Transaction ids" in docs/operations.md',
    true,
  );
  if (snapshot.engine === 'postgres') {
    const row = await snapshot.get<{ ids: number; multixacts: number }>(sql`
      select age(datfrozenxid) as ids, mxid_age(datminmxid) as multixacts
      from pg_database where datname = current_database()`);
    for (const [what, age] of [
      ['transaction id', row?.ids ?? 0],
      ['multixact id (shared locks of rows)', row?.multixacts ?? 0],
    ] as const) {
      if (age >= from) {
        const [millions, limit] = [age, refusedAt].map((ids) => Math.floor(ids / 1_000_000));
        old.add(
          `the oldest ${what} is ${millions} million ids old; at ${limit} million, changes are refused`,
        );
      }
    }
  }
  return old.found();
}

/** Replaces the rows of a shop by those of a snapshot. */
import { type Clock, timestamp } from '../../clock.ts';
import { listTables, lockTables, readLastIds, type Table, writeLastIds } from '../../database/copy/tables.ts';
import type { Sql } from '../../database/database.ts';
import { rawSql, type Statement, sql } from '../../database/sql.ts';
import { rewindLog } from '../../event-log/numbering.ts';
import { forgetMails } from '../../mail/pause.ts';
import { recountOrders } from '../../orders/lists/order-counter.ts';
import { recountStock } from '../../stock/consistency-check.ts';
import { testStateQueries } from '../queries.ts';
import { isLockedMeanwhile, isReplacedByRestore } from './kept-tables.ts';

/**
 * How much larger the versions of rows become with each restore. A change that waited for the restore compares versions
 * after it: none is one that a client has seen before.
 */
const versionStep = 1_000_000;

export interface RestoreSource {
  /** The schema or attached database with the tables of the snapshot. */
  readonly from: string;
  /** How far the clock was ahead of that of the machine. */
  readonly advancedMs: number;
  /** The last ids of its tables. */
  readonly lastIds: Readonly<Record<string, number>>;
}

/** Runs in an exclusive transaction. @param clock the clock as it is after the restore */
export async function restoreRows(
  tx: Sql,
  { from, lastIds, advancedMs }: RestoreSource,
  clock: Clock,
): Promise<void> {
  const now = timestamp(clock.now());
  const all = await listTables(tx, tx.engine);
  await lockTables(tx, all.filter(isLockedMeanwhile));
  const tables = all.filter(isReplacedByRestore);
  const { version = 0 } = (await tx.get<{ version: number }>(sql`select version from catalogue`)) ?? {};
  const restores = await testStateQueries(tx).countRestore();
  await deleteGrantsOfOthers(tx, from);
  for (const { name } of tables.toReversed()) {
    await tx.run(sql`delete from ${rawSql(name)}`);
  }
  for (const table of tables) {
    await copyFrom(tx, from, table, restores * versionStep);
  }
  // Every instance loads the catalogue again, as if it had missed deletions, and no list has a version that it had.
  await tx.run(sql`update catalogue set version = ${version + 1}, tombstones_after = ${version + 1}`);
  await restoreImageFiles(tx, from, now);
  await testStateQueries(tx).resetClock(advancedMs);
  await recountStock(tx);
  await recountOrders(tx);
  await rewindLog(tx, clock);
  // Events that an endpoint had not examined are not in the log any more.
  await tx.run(sql`update webhook_endpoint set position = (select last from event_log where id = 1)`);
  await forgetMails(tx, clock.now());
  await writeLastIds(tx, tx.engine, await idsAfter(tx, tables, lastIds));
}

async function copyFrom(tx: Sql, from: string, { name, columns }: Table, step: number): Promise<void> {
  const hasVersions = name !== 'catalogue' && columns.includes('version');
  const values = columns.map((column) =>
    hasVersions && column === 'version' ? sql`version + ${step}` : rawSql(column),
  );
  const list = values
    .slice(1)
    .reduce<Statement>((before, one) => sql`${before}, ${one}`, values[0] as Statement);
  await tx.run(sql`
    insert into ${rawSql(name)} (${rawSql(columns.join(', '))}) select ${list} from ${rawSql(`${from}.${name}`)}`);
}

/** Otherwise a customer who gets the same id would have the grants and approvals of another one. */
async function deleteGrantsOfOthers(tx: Sql, from: string): Promise<void> {
  for (const table of ['oauth_object', 'admin_approval']) {
    await tx.run(sql`
      delete from ${rawSql(table)} where customer_id > 0 and not exists (
        select 1 from customer now join ${rawSql(`${from}.customer`)} restored
          on restored.id = now.id and restored.username = now.username and restored.created_at = now.created_at
        where now.id = ${rawSql(table)}.customer_id)`);
  }
}

/** Files that only the present shop uses are marked as unused, and the maintenance of a server deletes them. */
async function restoreImageFiles(tx: Sql, from: string, now: string): Promise<void> {
  await tx.run(sql`update image_file set state = 'pending', since = ${now} where state = 'stored'`);
  await tx.run(sql`
    insert into image_file (name, media_type, bytes, state, since)
    select name, media_type, bytes, state, since from ${rawSql(`${from}.image_file`)} where state = 'stored'
    on conflict (name) do update set state = excluded.state, since = excluded.since`);
}

/** The ids of the restored tables return. Those of events continue, because the numbering relies on that. */
async function idsAfter(
  tx: Sql,
  tables: readonly Table[],
  lastIds: RestoreSource['lastIds'],
): Promise<Map<string, number>> {
  const ids = await readLastIds(tx, tx.engine);
  for (const { name } of tables) {
    const last = lastIds[name];
    if (last !== undefined && name !== 'event') {
      ids.set(name, last);
    }
  }
  return ids;
}

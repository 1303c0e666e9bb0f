/** Empties a shop for a reset. */
import { type Clock, timestamp } from '../../clock.ts';
import type { Origin } from '../../database/context.ts';
import { listTables, lockTables } from '../../database/copy/tables.ts';
import type { Sql } from '../../database/database.ts';
import { rawSql, sql } from '../../database/sql.ts';
import { emptyLog } from '../../event-log/numbering.ts';
import { recordEvents } from '../../event-log/record.ts';
import { forgetMails } from '../../mail/pause.ts';
import { recountOrders } from '../../orders/lists/order-counter.ts';
import { recountStock } from '../../stock/consistency-check.ts';
import { shopReset } from '../event-types.ts';
import { testStateQueries } from '../queries.ts';
import { isEmptiedByReset, isLockedMeanwhile } from './kept-tables.ts';

/** The catalogue before it was emptied. */
export interface CatalogueState {
  readonly version: number;
  readonly last_cheese_id: number;
}

/** Deletes what the shop has, in an exclusive transaction. Returns how the catalogue was. @param clock of the machine */
export async function emptyShop(tx: Sql, origin: Origin, clock: Clock): Promise<CatalogueState> {
  const now = timestamp(clock.now());
  const tables = await listTables(tx, tx.engine);
  await lockTables(tx, tables.filter(isLockedMeanwhile));
  const catalogue = await tx.get<CatalogueState>(sql`select version, last_cheese_id from catalogue`);
  // Instances that run load the catalogue again, as if they had missed deletions. The demo gets the ids of a first
  // start: cheeses by the number in this row, categories and tags because their rows stay.
  await tx.run(sql`
    update catalogue set version = version + 1, tombstones_after = version + 1, cheeses = 0, last_cheese_id = 0,
      last_written_at = ''`);
  for (const { name } of tables.filter(isEmptiedByReset).toReversed()) {
    await tx.run(sql`delete from ${rawSql(name)}`);
  }
  await testStateQueries(tx).resetClock(0);
  // The shop has no order any more, so its currency can change.
  await tx.run(sql`update shop_profile set currency_fixed = 0`);
  await recountStock(tx);
  await recountOrders(tx);
  // The maintenance of a server deletes their files.
  await tx.run(sql`update image_file set state = 'pending', since = ${now} where state = 'stored'`);
  await emptyLog(tx, clock);
  // What endpoints have not seen is gone. They continue with the reset itself.
  await tx.run(sql`update webhook_endpoint set position = (select last from event_log where id = 1)`);
  await forgetMails(tx, clock.now());
  await recordEvents(tx, origin, now, [shopReset.of('shop', {})]);
  return catalogue as CatalogueState;
}

/**
 * Lets further cheeses have ids that were never used, and gives the cheeses of the demo versions, which are their ETags,
 * that no cheese has had.
 */
export async function continueAfter(tx: Sql, { version, last_cheese_id }: CatalogueState): Promise<void> {
  await tx.run(sql`
    update catalogue set version = version + 1,
      last_cheese_id = case when last_cheese_id < ${last_cheese_id} then ${last_cheese_id} else last_cheese_id end`);
  await tx.run(sql`
    update cheese set version = version + ${version}, changed_in = (select version from catalogue)`);
}

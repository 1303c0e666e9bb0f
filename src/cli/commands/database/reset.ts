import { fillDemoCatalogue, seedDemoImages } from '../../../app/demo/demo.ts';
import { systemClock, timestamp } from '../../../clock.ts';
import { listTables, lockTables } from '../../../database/copy/tables.ts';
import type { Sql } from '../../../database/database.ts';
import { requireOwnSchema } from '../../../database/migrate.ts';
import { rawSql, sql } from '../../../database/sql.ts';
import { emptyLog } from '../../../event-log/numbering.ts';
import { recordEvents } from '../../../event-log/record.ts';
import { shopReset } from '../../../events/types.ts';
import { recountOrders } from '../../../orders/lists/order-counter.ts';
import { restoreTestOrders } from '../../../orders/test-orders.ts';
import { resetClock } from '../../../sandbox/clock/movable-clock.ts';
import { ConfigError } from '../../../settings/parsers.ts';
import { publicImageUrl } from '../../../settings/urls.ts';
import { recountStock } from '../../../stock/consistency-check.ts';
import type { resetOptions } from '../../framework/command-options.ts';
import type { OptionsOf } from '../../framework/options.ts';
import { printResult } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';

/** Tables that are not emptied: accounts and credentials, endpoints, quotas, the environment and the schema version. */
const kept = [
  'migration',
  'shop',
  'account',
  'api_key',
  'oauth_client',
  'webhook_endpoint',
  'quota',
  'event_epoch',
  'instance',
];
/** Tables whose rows an empty shop needs as well. */
const changed = ['catalogue', 'term', 'image_file', 'event_log', 'stock_count', 'shop_clock'];

interface CatalogueState {
  readonly version: number;
  readonly last_cheese_id: number;
}

/**
 * Lets further cheeses have ids that were never used, and gives the cheeses of the demo versions, which are their ETags,
 * that no cheese has had.
 */
async function continueAfter(tx: Sql, { version, last_cheese_id }: CatalogueState): Promise<void> {
  await tx.run(sql`
    update catalogue set version = version + 1,
      last_cheese_id = case when last_cheese_id < ${last_cheese_id} then ${last_cheese_id} else last_cheese_id end`);
  await tx.run(sql`
    update cheese set version = version + ${version}, changed_in = (select version from catalogue)`);
}

/** Empties a local or sandbox shop and restores its demo catalogue. */
export function runReset(options: OptionsOf<typeof resetOptions>): Promise<void> {
  return withShop(
    options,
    async ({
      config,
      database,
      clock,
      auth: { keys },
      cheeses: { service: cheeses },
      images: { service: images },
      contextOf,
    }) => {
      if (config.environment === 'production') {
        throw new ConfigError('A production shop is not reset. Reset is for local and sandbox shops.');
      }
      if ((await keys.countLive()) > 0) {
        throw new ConfigError(
          'This shop has live keys, as production shops do. If it is not a production shop, revoke them first: curd keys revoke <id>',
        );
      }
      if (!options.yes) {
        throw new ConfigError(
          `This deletes all cheeses, orders and customers of this shop (${config.environment}). Add --yes to confirm.`,
        );
      }
      await requireOwnSchema(database, 'reset');
      const now = timestamp(systemClock.now());
      const tables = await listTables(database, database.engine);
      const { origin } = contextOf('cli');
      const before = await database.exclusiveTransaction(async (tx) => {
        await lockTables(tx, tables);
        const catalogue = await tx.get<CatalogueState>(sql`select version, last_cheese_id from catalogue`);
        // Instances that run load the catalogue again, as if they had missed deletions. The demo gets the ids of a first
        // start: cheeses by the number in this row, categories and tags because their rows stay.
        await tx.run(sql`
          update catalogue set version = version + 1, tombstones_after = version + 1, cheeses = 0, last_cheese_id = 0`);
        for (const { name } of tables.toReversed()) {
          if (![...kept, ...changed].includes(name)) {
            await tx.run(sql`delete from ${rawSql(name)}`);
          }
        }
        await resetClock(tx);
        await recountStock(tx);
        await recountOrders(tx);
        // The maintenance of a server deletes their files.
        await tx.run(sql`update image_file set state = 'pending', since = ${now} where state = 'stored'`);
        await emptyLog(tx, systemClock);
        // What endpoints have not seen is gone. They continue with the reset itself.
        await tx.run(sql`update webhook_endpoint set position = (select last from event_log where id = 1)`);
        await recordEvents(tx, origin, now, [shopReset.of('shop', {})]);
        return catalogue as CatalogueState;
      });
      await clock.refresh();
      await fillDemoCatalogue(cheeses, contextOf('cli'));
      await database.exclusiveTransaction((tx) => continueAfter(tx, before));
      await seedDemoImages({ images, database }, contextOf('cli'), (name) => publicImageUrl(config, name));
      await restoreTestOrders(contextOf('cli'));
      printResult(
        options,
        { reset: true },
        'The shop is reset. Accounts, keys, applications and webhook endpoints are kept.',
      );
    },
    true,
  );
}

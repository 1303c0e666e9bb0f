import { fillDemoCatalogue, seedDemoImages } from '../../../app/demo/demo.ts';
import { systemClock, timestamp } from '../../../clock.ts';
import { listTables, lockTables } from '../../../database/copy/tables.ts';
import { requireOwnSchema } from '../../../database/migrate.ts';
import { rawSql, sql } from '../../../database/sql.ts';
import { emptyLog } from '../../../event-log/numbering.ts';
import { recordEvents } from '../../../event-log/record.ts';
import { shopReset } from '../../../events/types.ts';
import { recountOrders } from '../../../orders/lists/order-counter.ts';
import { restoreTestOrders } from '../../../orders/test-orders.ts';
import { ConfigError } from '../../../settings/parsers.ts';
import { publicImageUrl } from '../../../settings/urls.ts';
import { recountStock } from '../../../stock/consistency-check.ts';
import type { resetOptions } from '../../framework/command-options.ts';
import type { OptionsOf } from '../../framework/options.ts';
import { printResult } from '../../framework/output.ts';
import { withServices } from '../../framework/run-command.ts';

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
const changed = ['catalogue', 'term', 'image_file', 'event_log', 'stock_count'];

/** Empties a local or sandbox shop and restores its demo catalogue. */
export function runReset(options: OptionsOf<typeof resetOptions>): Promise<void> {
  return withServices(
    options,
    async ({ config, database, keys, cheeses, images, contextOf }) => {
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
      await database.exclusiveTransaction(async (tx) => {
        // Ids are not reused, those of terms included, so that an old id never refers to something else.
        await lockTables(tx, database.engine, tables);
        // Instances that run load the catalogue again, as if they had missed deletions.
        await tx.run(sql`
          update catalogue set version = version + 1, tombstones_after = version + 1, cheeses = 0`);
        for (const { name } of tables.toReversed()) {
          if (![...kept, ...changed].includes(name)) {
            await tx.run(sql`delete from ${rawSql(name)}`);
          }
        }
        await recountStock(tx);
        await recountOrders(tx);
        // The maintenance of a server deletes their files.
        await tx.run(sql`update image_file set state = 'pending', since = ${now} where state = 'stored'`);
        await emptyLog(tx, systemClock);
        await recordEvents(tx, origin, now, [shopReset.of('shop', {})]);
      });
      await fillDemoCatalogue(cheeses, contextOf('cli'));
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

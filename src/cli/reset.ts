import { fillDemoCatalogue, seedDemoImages } from '../app/demo/demo.ts';
import { systemClock, timestamp } from '../clock.ts';
import { rawSql, sql } from '../database/sql.ts';
import { listTables, lockTables } from '../database/tables.ts';
import { recordEvents } from '../events/record.ts';
import { restoreTestOrders } from '../orders/test-orders.ts';
import { ConfigError } from '../settings/parsers.ts';
import { publicImageUrl } from '../settings/urls.ts';
import { type CommandOptions, printResult, withServices } from './run-command.ts';

/** Who may come in, and how far the schema is. */
const kept = ['migration', 'shop', 'account', 'api_key', 'oauth_client', 'quota'];
/** Their rows stand for something even in an empty shop. */
const changed = ['catalogue', 'term', 'image_file'];

/** Empties a shop that is for trying things, and fills its demo catalogue anew. */
export function runReset(options: CommandOptions): Promise<void> {
  return withServices(
    options,
    async ({ config, database, keys, cheeses, images, contextOf }) => {
      if (config.environment === 'production') {
        throw new ConfigError('A production shop is not reset: that is for local and sandbox.');
      }
      if ((await keys.countLive()) > 0) {
        throw new ConfigError(
          'This shop has live keys, as production shops have: revoke them first, if it is none.',
        );
      }
      if (options.yes !== true) {
        throw new ConfigError(
          `All cheeses, orders and customers of this shop (${config.environment}) would be lost: say --yes if that is what you want.`,
        );
      }
      const now = timestamp(systemClock.now());
      const tables = await listTables(database, database.engine);
      const { origin } = contextOf('cli');
      await database.exclusiveTransaction(async (tx) => {
        // Ids go on, terms included, so that no old one means another.
        await lockTables(tx, database.engine, tables);
        await tx.run(sql`update catalogue set version = version + 1`);
        for (const { name } of tables.toReversed()) {
          if (![...kept, ...changed].includes(name)) {
            await tx.run(sql`delete from ${rawSql(name)}`);
          }
        }
        // The sweep of a server takes their bytes away.
        await tx.run(sql`update image_file set state = 'pending', since = ${now} where state = 'stored'`);
        await recordEvents(tx, origin, now, [{ type: 'shop.reset', subject: 'shop', data: '{}' }]);
      });
      await fillDemoCatalogue(cheeses, contextOf('cli'));
      await seedDemoImages({ cheeses, images, database }, contextOf('cli'), (name) =>
        publicImageUrl(config, name),
      );
      await restoreTestOrders(contextOf('cli'));
      printResult(options, { reset: true }, 'The shop is as new; accounts, keys and applications are kept.');
    },
    true,
  );
}

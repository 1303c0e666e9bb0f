import { composeShop } from '../../../app/compose.ts';
import { addFixtures, type SetClock, type SoldCheese } from '../../../app/demo/fixtures.ts';
import { createChildPools } from '../../../app/foundation.ts';
import { countContents } from '../../../app/shop-contents.ts';
import { parseCheese } from '../../../cheeses/schemas.ts';
import type { CheeseService } from '../../../cheeses/service.ts';
import { systemClock, timestamp } from '../../../clock.ts';
import { commandName } from '../../../command-name.ts';
import type { Sql } from '../../../database/database.ts';
import { skipEvents } from '../../../mail/pause.ts';
import { ConfigError } from '../../../settings/parsers.ts';
import type { seedOptions } from '../../framework/command-options.ts';
import type { OptionsOf } from '../../framework/options.ts';
import { pluralize, printResult } from '../../framework/output.ts';
import { configForExistingShop, databaseLocation, requireDatabaseFile } from '../../framework/run-command.ts';

/** Cheeses that the orders contain. */
const cheesesMax = 200;
const hourMs = 3_600_000;

/** Fills a local or sandbox shop without customers with plausible customers and orders. */
export async function runSeed(options: OptionsOf<typeof seedOptions>): Promise<void> {
  requireDatabaseFile(
    databaseLocation(options),
    (file) => `There is no shop at ${file} yet. Start the server once, which creates the demo catalogue.`,
  );
  const config = await configForExistingShop(options);
  if (config.environment === 'production') {
    throw new ConfigError('A production shop gets no invented orders. Seed is for local and sandbox shops.');
  }
  const until = options.until ?? Math.floor(systemClock.now() / hourMs) * hourMs;
  let time = systemClock.now();
  const clock: SetClock = {
    ...systemClock,
    now: () => time,
    isSystem: false,
    set(at) {
      time = at;
    },
  };
  const { passwords, imageRenderer } = createChildPools(clock);
  try {
    // Nobody knows this password: a link for a new one makes a customer usable.
    const hash = await passwords.hash(clock.uuid());
    const workers = { passwords: { ...passwords, hash: async () => hash }, imageRenderer };
    const shop = await composeShop({ ...config, ordersPerHour: null }, { clock, workers });
    try {
      const { customers, orders, seed } = options;
      const { database, contextOf } = shop;
      await database.exclusiveTransaction(async (tx) => {
        await requireNoCustomers(tx);
        const cheeses = await orderableCheeses(tx, shop.cheeses.service);
        const context = { ...contextOf('cli'), transaction: <T>(work: (sql: Sql) => Promise<T>) => work(tx) };
        await skipEvents(tx);
        await addFixtures({ shop, clock, context, cheeses }, { customers, orders, seed, until });
      });
      // Their times are past, and doctor reports old events without a number.
      await shop.events.numbering.run();
      // Nobody gets mails about invented orders.
      await database.transaction(skipEvents);
      const to = timestamp(until);
      printResult(
        options,
        { customers, orders, seed, until: to },
        `Added ${pluralize(customers, 'customer')} and ${pluralize(orders, 'order')} of the 90 days until ${to}. "${commandName} customers reset-password <username>" lets one of them log in.`,
      );
    } finally {
      await shop.close();
    }
  } finally {
    passwords.close();
    imageRenderer.close();
  }
}

/** @throws ConfigError */
async function requireNoCustomers(tx: Sql): Promise<void> {
  const { customers, orders } = await countContents(tx);
  if (customers > 0 || orders > 0) {
    throw new ConfigError(
      `The shop has ${pluralize(customers, 'customer')} and ${pluralize(orders, 'order')} already. Run "${commandName} reset --yes" first, which deletes them.`,
    );
  }
}

/** Ids of cheeses that can be ordered in any quantity, locked. @throws ConfigError when there is none */
async function orderableCheeses(tx: Sql, cheeses: CheeseService): Promise<SoldCheese[]> {
  const first = await cheeses.listAfter(0, cheesesMax);
  const rows = await cheeses.lockForShare(
    tx,
    first.map(({ id }) => id),
  );
  const sold = [...rows.values()].flatMap(({ body, tracked }) => {
    const cheese = parseCheese(body);
    const isSold = cheese.status === 'available' && cheese.pricePerKg !== undefined && tracked === 0;
    return isSold ? [cheese] : [];
  });
  if (sold.length === 0) {
    throw new ConfigError(
      `None of the first ${cheesesMax} cheeses is available with a price and without tracked stock. Import cheeses, or restore the demo with "${commandName} reset --yes".`,
    );
  }
  return sold.toSorted((a, b) => a.id - b.id);
}

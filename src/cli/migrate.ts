import { rebuildStaleIndex } from '../cheeses/index-rebuild.ts';
import { systemClock, timestamp } from '../clock.ts';
import { fillSearchNames } from '../customers/search.ts';
import { openDatabase } from '../database/database.ts';
import { migrate } from '../database/migrate.ts';
import type { CommandOptions } from './options.ts';
import { printResult } from './output.ts';
import { rebuildBar } from './progress.ts';
import { configForExistingShop } from './run-command.ts';

export async function runMigrate(options: CommandOptions): Promise<void> {
  const database = await openDatabase(await configForExistingShop(options));
  try {
    const applied = await migrate(database);
    const bar = rebuildBar();
    await rebuildStaleIndex(database, timestamp(systemClock.now()), bar.show).finally(bar.clear);
    await fillSearchNames(database);
    const text = applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`;
    printResult(options, { applied }, text);
  } finally {
    await database.close();
  }
}

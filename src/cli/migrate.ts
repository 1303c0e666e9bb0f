import { openDatabase } from '../database/database.ts';
import { migrate } from '../database/migrate.ts';
import type { CommandOptions } from './options.ts';
import { printResult } from './output.ts';
import { configForExistingShop } from './run-command.ts';

export async function runMigrate(options: CommandOptions): Promise<void> {
  const database = await openDatabase(await configForExistingShop(options));
  try {
    const applied = await migrate(database);
    const text = applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`;
    printResult(options, { applied }, text);
  } finally {
    await database.close();
  }
}

import { openDatabase } from '../database/database.ts';
import { migrate } from '../database/migrate.ts';
import { type CommandOptions, configOfShop, printResult } from './run-command.ts';

export async function runMigrate(options: CommandOptions): Promise<void> {
  const database = await openDatabase(await configOfShop(options));
  try {
    const applied = await migrate(database);
    const words = applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`;
    printResult(options, { applied }, words);
  } finally {
    await database.close();
  }
}

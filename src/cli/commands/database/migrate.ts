import { findNewerSchema, migrate, type SchemaVersions } from '../../../database/migrate.ts';
import { openDatabase } from '../../../database/open.ts';
import type { CommandOptions } from '../../framework/options.ts';
import { printResult } from '../../framework/output.ts';
import { configForExistingShop } from '../../framework/run-command.ts';

export async function runMigrate(options: CommandOptions): Promise<void> {
  const database = await openDatabase(await configForExistingShop(options));
  try {
    const applied = await migrate(database);
    const newer = await findNewerSchema(database);
    printResult(options, { applied }, resultText(applied, newer));
  } finally {
    await database.close();
  }
}

function resultText(applied: readonly string[], newer: SchemaVersions | null): string {
  if (newer !== null) {
    return `The database is at migration ${newer.database}, newer than this version of Curd, which knows ${newer.program} and can use it.`;
  }
  return applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`;
}

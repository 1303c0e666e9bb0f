/** The environment of a shop, stored at its first start, so that settings of another environment cannot open it. */
import { commandName } from '../command-name.ts';
import { ConfigError, type Environment } from '../settings/parsers.ts';
import type { Database, Sql } from './database.ts';
import { sql } from './sql.ts';

/** null before the first start. */
export async function findEnvironment(database: Sql): Promise<Environment | null> {
  const row = await database.get<{ environment: Environment | null }>(sql`select environment from shop`);
  return row?.environment ?? null;
}

export async function storeEnvironment(database: Sql, environment: Environment): Promise<void> {
  await database.run(sql`update shop set environment = ${environment}`);
}

/**
 * Stores the environment of the first start.
 * @throws ConfigError when the shop has another environment
 */
export async function requireEnvironment(database: Database, environment: Environment): Promise<void> {
  const stored = await findEnvironment(database);
  if (stored === null) {
    await database.run(sql`update shop set environment = ${environment} where environment is null`);
    // Another process may have been first.
    await requireEnvironment(database, environment);
  } else if (stored !== environment) {
    throw anotherEnvironment(environment, stored);
  }
}

/** The error for settings of another environment than that of the shop. */
export function anotherEnvironment(environment: Environment, stored: Environment): ConfigError {
  return new ConfigError(
    `This is a ${stored} shop, but the settings are for ${environment}. Set CURD_ENVIRONMENT=${stored}, or change the shop: ${commandName} environment change ${environment}`,
  );
}

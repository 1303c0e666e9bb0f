/** The environment of a shop, stored at its first start, so that settings of another environment cannot open it. */
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
 * @param hasTestOrders whether the shop has test orders, which production shops never had
 * @throws ConfigError when the shop has another environment
 */
export async function requireEnvironment(
  database: Database,
  environment: Environment,
  hasTestOrders: (database: Sql) => Promise<boolean>,
): Promise<void> {
  const stored = await findEnvironment(database);
  if (stored === null) {
    if (environment === 'production' && (await hasTestOrders(database))) {
      throw anotherEnvironment(environment, null);
    }
    await database.run(sql`update shop set environment = ${environment} where environment is null`);
    // Another process may have been first.
    await requireEnvironment(database, environment, hasTestOrders);
  } else if (stored !== environment) {
    throw anotherEnvironment(environment, stored);
  }
}

/**
 * The error for settings of another environment than that of the shop.
 * @param stored null when it is only known that the shop is not a production shop
 */
export function anotherEnvironment(environment: Environment, stored: Environment | null): ConfigError {
  const [shop, remedy] =
    stored === null
      ? ['not a production shop, because it has test orders', 'another CURD_ENVIRONMENT']
      : [`a ${stored} shop`, `CURD_ENVIRONMENT=${stored}`];
  return new ConfigError(
    `This is ${shop}, but the settings are for ${environment}. Set ${remedy}, or change the shop: curd environment change ${environment}`,
  );
}

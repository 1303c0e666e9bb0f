/** Everything below HTTP, wired by hand in dependency order. The command line works with this alone. */
import { createKeyService, type KeyService } from './auth/keys/service.ts';
import { type CheeseListing, createCheeseListing } from './cheeses/listing.ts';
import { type CheeseService, createCheeseService } from './cheeses/service.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import type { Context } from './database/context.ts';
import { type Database, openDatabase } from './database/database.ts';
import { migrate } from './database/migrate.ts';
import { createCursors } from './http/cursor.ts';

export interface Services {
  readonly config: Config;
  readonly clock: Clock;
  readonly database: Database;
  readonly keys: KeyService;
  readonly cheeses: CheeseService;
  readonly listing: CheeseListing;
  /** A context for what nobody asked for over HTTP: `cli` or `system`. */
  contextOf(actor: string): Context;
}

/** Opens the database, brings it to the current schema and makes the services. Close the database when done. */
export async function openServices(config: Config, clock: Clock = systemClock): Promise<Services> {
  const database = await openDatabase(config);
  try {
    await migrate(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  return {
    config,
    clock,
    database,
    keys: createKeyService({ database, clock, environment: config.environment }),
    cheeses: createCheeseService({ database, clock }),
    listing: createCheeseListing({ database, cursors: createCursors(config.secret) }),
    contextOf: (actor) => ({
      transaction: database.transaction,
      origin: { actor, requestId: null, traceId: null },
    }),
  };
}

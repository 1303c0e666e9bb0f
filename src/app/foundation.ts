/** Opens what all areas of a shop share: its database, its pools of child processes, its addresses. */
import { createPasswords, type Passwords } from '../auth/passwords.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { requireEnvironment } from '../database/environment.ts';
import { findNewerSchema, migrate, type SchemaVersions } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { AppError } from '../errors.ts';
import { beginFirstEpoch } from '../event-log/numbering.ts';
import type { StreamTimes } from '../events/stream.ts';
import { Hooks } from '../hooks/hooks.ts';
import type { AreaDependencies } from '../http/area.ts';
import { createImageRenderer, type ImageRenderer } from '../images/renderer.ts';
import { Loops } from '../jobs/loops.ts';
import { createLog, type Log } from '../log.ts';
import { openClock } from '../sandbox/clock/movable-clock.ts';
import { openTestState, type TestState } from '../sandbox/test-state.ts';
import type { Config } from '../settings/config.ts';
import { publicBaseUrl, publicImageUrl } from '../settings/urls.ts';
import { ShopProfile } from '../shop/profile.ts';
import { apiInfo } from './api-info.ts';

/** Pools of child processes. */
export interface ChildPools {
  readonly passwords: Passwords;
  readonly imageRenderer: ImageRenderer;
}

/** Starts no process yet. @param childrenMax of each pool; by default as many as one server needs */
export function createChildPools(clock: Clock, childrenMax?: number): ChildPools {
  return {
    passwords: createPasswords(clock, childrenMax),
    imageRenderer: createImageRenderer(clock, childrenMax),
  };
}

export interface ShopOptions {
  /** The clock of the machine: that of the shop can be ahead. */
  readonly clock?: Clock | undefined;
  /** Commands have none. */
  readonly log?: Log | undefined;
  /** Shared by several shops of one process, and closed by the caller. */
  readonly workers?: ChildPools | undefined;
  readonly streamTimes?: StreamTimes | undefined;
  /** Opens a shop of any environment. */
  readonly isOfAnyEnvironment?: boolean;
  /** Differs from the setting if that is 0; undefined while nothing listens. */
  readonly listeningPort?: () => number | undefined;
}

interface Foundation extends AreaDependencies, ChildPools {
  /** The versions of a database that a newer version has migrated; otherwise null. */
  readonly newerSchema: SchemaVersions | null;
  /** null in production. */
  readonly testState: TestState | null;
  readonly profile: ShopProfile;
  /** Ends the child processes that it started, and closes the database. */
  close(): Promise<void>;
}

/** @throws ConfigError if the shop is of another environment than the settings; AppError unavailable */
export async function openFoundation(config: Config, options: ShopOptions): Promise<Foundation> {
  const { clock: machineClock = systemClock, log = createLog('silent'), workers } = options;
  const { isOfAnyEnvironment = false, listeningPort = () => undefined } = options;
  const loops = new Loops(machineClock);
  const database = await openDatabase(config);
  const opening = prepare(database, config, machineClock, log, loops, isOfAnyEnvironment);
  const { newerSchema, clock, testState, profile } = await opening.catch(async (error) => {
    await database.close();
    throw error instanceof Error && 'severity' in error
      ? new AppError('unavailable', 'PostgreSQL refused the migration.', { cause: error })
      : error;
  });
  const pools = workers ?? createChildPools(machineClock);
  return {
    ...pools,
    config,
    clock,
    log,
    loops,
    database,
    hooks: new Hooks(),
    newerSchema,
    testState,
    profile,
    site: () => profile.current,
    version: apiInfo.version,
    contextOf: (actor) => ({
      transaction: database.transaction,
      origin: { actor, requestId: null, traceId: null, effects: null },
    }),
    issuer: () => new URL(publicBaseUrl(config, listeningPort())).origin,
    fileUrl: (name) => publicImageUrl(config, name, listeningPort()),
    async close() {
      if (workers === undefined) {
        pools.passwords.close();
        pools.imageRenderer.close();
      }
      await database.close();
    },
  };
}

async function prepare(
  database: Database,
  config: Config,
  machineClock: Clock,
  log: Log,
  loops: Loops,
  isOfAnyEnvironment: boolean,
): Promise<Pick<Foundation, 'newerSchema' | 'clock' | 'testState' | 'profile'>> {
  await migrate(database);
  const newerSchema = await findNewerSchema(database);
  if (!isOfAnyEnvironment) {
    await requireEnvironment(database, config.environment);
  }
  const testState = config.environment === 'production' ? null : await openTestState(database);
  const clock = await openClock(database, testState, machineClock, config);
  await beginFirstEpoch(database, clock);
  const profile = await ShopProfile.open(database, log, loops, config.shopName);
  return { newerSchema, clock, testState, profile };
}

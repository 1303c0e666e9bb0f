/** A server for one test run: on a free port, with a shop of its own that is deleted when the process ends. */
import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scopeSummaries } from '../../access/access.ts';
import type { App } from '../../app/build-app.ts';
import { makeKey } from '../../auth/keys/format.ts';
import { systemClock } from '../../clock.ts';
import { lockServer, type ServerLock } from '../../database/sqlite/server-lock.ts';
import type { RawSettings } from '../../settings/config.ts';
import { ConfigError } from '../../settings/parsers.ts';
import { type Setting, toFlag } from '../../settings/setting.ts';
import { settings, type Variable } from '../../settings/table.ts';
import type { CommandOptions } from '../framework/options.ts';
import { type Greeting, localAccount } from './greeting.ts';

const prefix = 'curd-ephemeral-';
const databaseName = 'curd.sqlite';
/** A process that has made its folder locks it within this time. */
const unlockedMs = 60_000;
const attemptsMax = 10;

/** Settings that an ephemeral server has always. An empty text is the default. */
const fixed: RawSettings = {
  CURD_ENVIRONMENT: 'local',
  CURD_HOST: '127.0.0.1',
  CURD_DATABASE: '',
  CURD_IMAGES: '',
  CURD_IMAGES_URL: '',
  CURD_PUBLIC_URL: '',
  CURD_SECRET: '',
  CURD_PROCESSES: '1',
  CURD_CLOCK: 'movable',
};

export interface EphemeralShop {
  /** The settings of the command, with those of the shop. */
  readonly flags: RawSettings;
  readonly lock: ServerLock;
}

export interface EphemeralGreeting {
  readonly url: string;
  /** A key with every scope but `admin`. */
  readonly key: string;
  /** A key with every scope. */
  readonly adminKey: string;
}

/**
 * Makes the data folder of a shop, which is deleted at the end of the process, and deletes those that killed processes have
 * left.
 * @throws ConfigError for a setting that an ephemeral server does not have
 */
export function createEphemeralShop({ flags }: CommandOptions): EphemeralShop {
  for (const { variable } of Object.values<Setting>(settings)) {
    const isFixed = variable in fixed || variable === 'CURD_DATA_DIR' || variable === 'CURD_LOCAL_KEY';
    if (isFixed && flags[variable as Variable] !== undefined) {
      throw new ConfigError(
        `An ephemeral server has a new shop of its own: leave out --${toFlag(variable)}.`,
      );
    }
  }
  deleteForgotten();
  const { folder, lock } = lockNewFolder();
  // Also after an error that nobody catches.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return {
    flags: {
      CURD_PORT: '0',
      // A test with the settings of a shop must not write to its customers.
      CURD_MAIL: '',
      ...flags,
      ...fixed,
      CURD_DATA_DIR: folder,
      CURD_LOCAL_KEY: makeKey('test', systemClock),
    },
    lock,
  };
}

function lockNewFolder(): { readonly folder: string; readonly lock: ServerLock } {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const folder = mkdtempSync(join(tmpdir(), prefix));
    const lock = tryLock(folder);
    if (lock !== null) {
      return { folder, lock };
    }
    // Another process took the folder for one that was left, between its creation and its lock.
  }
  throw new ConfigError(`No folder could be made in ${tmpdir()}. Check its permissions, or set TMPDIR.`);
}

function tryLock(folder: string): ServerLock | null {
  try {
    return lockServer(join(folder, databaseName));
  } catch {
    return null;
  }
}

/** Deletes folders of ephemeral servers that have ended: no process has the lock of their database. */
function deleteForgotten(): void {
  for (const name of readdirSync(tmpdir()).filter((one) => one.startsWith(prefix))) {
    const folder = join(tmpdir(), name);
    const lock = isForgotten(folder) ? tryLock(folder) : null;
    if (lock !== null) {
      rmSync(folder, { recursive: true, force: true });
      lock.release();
    }
  }
}

/** Other users can make folders in the same place. A folder without a lock file can be one that is being made. */
function isForgotten(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found?.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) {
    return false;
  }
  return existsSync(join(folder, `${databaseName}-server`)) || found.mtimeMs < systemClock.now() - unlockedMs;
}

/** Creates the second key. */
export async function greetEphemerally(
  { auth: { keys }, contextOf }: App,
  { url, key: adminKey }: Greeting,
): Promise<EphemeralGreeting> {
  const account = await keys.findAccount(localAccount);
  const scopes = Object.keys(scopeSummaries).filter((scope) => scope !== 'admin');
  const { key } = await keys.create(contextOf('system'), account.id, { scopes });
  return { url, key, adminKey: adminKey ?? '' };
}

export function printEphemeralGreeting(greeting: EphemeralGreeting, json: boolean): void {
  const { url, key, adminKey } = greeting;
  process.stdout.write(
    json
      ? `${JSON.stringify(greeting)}\n`
      : `Curd is listening on ${url} with a new shop, which is deleted at the end\n\nKey:       ${key}\nAdmin key: ${adminKey}\n\nReference: ${url}/docs   Stop: Ctrl+C\n`,
  );
}

/** The secret that signs cursors and encrypts stored responses. */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from '../command-name.ts';
import { restrict } from '../file-permissions.ts';
import { toReason } from '../system-errors.ts';
import { ConfigError, type Environment } from './parsers.ts';
import type { SettingContext } from './setting.ts';

/** Name of the file in the data folder. */
export const secretFile = 'secret';

/** @throws ConfigError */
export function parseSecret(text: string, name: string): string {
  if (Buffer.byteLength(text) < 32) {
    throw new ConfigError(
      `${name} is too short: set at least 32 bytes, for example from "openssl rand -hex 32".`,
    );
  }
  return text;
}

/** Why CURD_SECRET must be set; null if the secret is created in the data folder. */
export function secretRequiredBecause({ environment, database, dataDir }: SettingContext): string | null {
  if (environment === 'local' && database.file !== null) {
    return null;
  }
  const file = join(dataDir, secretFile);
  // A new secret could not read the secrets of the webhook endpoints of the shop that was copied, or changed its environment.
  const source = existsSync(file)
    ? `. The shop of this data folder has used that in ${file}: set it to the content of this file to continue that shop or a copy of it`
    : ', for example from "openssl rand -hex 32"';
  return `${environment === 'local' ? 'PostgreSQL' : environment} needs one of at least 32 bytes that you keep${source}.`;
}

/** The secret of a local shop on SQLite. The first start creates it in the data folder. @throws ConfigError */
export function loadOrCreateSecret(dataDir: string): string {
  const file = join(dataDir, secretFile);
  if (existsSync(file)) {
    restrict(file);
    return readFileSync(file, 'utf8');
  }
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    // Written completely under a temporary name, then linked. The link fails when the file exists, so two processes
    // that start for the first time at once use the same secret.
    const unfinished = `${file}.${randomBytes(8).toString('hex')}`;
    writeFileSync(unfinished, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600, flush: true });
    try {
      linkSync(unfinished, file);
    } finally {
      rmSync(unfinished);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new ConfigError(`The data folder ${dataDir} cannot be written: ${toReason(error)}.`);
    }
  }
  return readFileSync(file, 'utf8');
}

/** The checksum of the key is checked by the start that creates it. */
export function parseLocalKey(text: string, name: string, environment: Environment): string {
  if (environment !== 'local') {
    throw new ConfigError(
      `${name} is for the environment local only, and this is ${environment}: leave it out, and create keys with "${commandName} keys create".`,
    );
  }
  if (!/^sk_test_[0-9A-Za-z]{36}$/.test(text)) {
    throw new ConfigError(
      `${name} must be a test key: take one that "${commandName} keys create" of a local shop printed.`,
    );
  }
  return text;
}

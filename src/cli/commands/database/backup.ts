import { hash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { create } from 'tar';
import packageJson from '../../../../package.json' with { type: 'json' };
import { systemClock, timestamp } from '../../../clock.ts';
import { commandName } from '../../../command-name.ts';
import { openDatabase } from '../../../database/open.ts';
import { copyDatabaseFile, storeBackupTime } from '../../../database/sqlite/database-file.ts';
import { copyFiles, type StoredFile } from '../../../files/copy-files.ts';
import { sha256OfFile } from '../../../files/digest.ts';
import { fsyncPath, openFolder } from '../../../files/folder.ts';
import { openFiles } from '../../../files/open.ts';
import { storedFiles } from '../../../images/service.ts';
import type { Config } from '../../../settings/config.ts';
import { ConfigError } from '../../../settings/parsers.ts';
import type { backupOptions } from '../../framework/command-options.ts';
import type { OptionsOf } from '../../framework/options.ts';
import { pluralize, printResult } from '../../framework/output.ts';
import { progressBar } from '../../framework/progress.ts';
import { configForExistingShop, databaseLocation, requireDatabaseFile } from '../../framework/run-command.ts';
import {
  dateOf,
  datePlaceholder,
  deleteOldBackups,
  pathPattern,
  requireSeveralNames,
  unfinishedEnding,
} from './backup-names.ts';

/** The last entry of a backup: its contents and a checksum. */
export interface Manifest {
  readonly curd: string;
  readonly createdAt: string;
  /** SHA-256 of curd.sqlite, in hex. */
  readonly database: string;
  readonly images: number;
  /** SHA-256 of the other members, in hex. */
  readonly seal: string;
}

/** The checksum of a manifest: a backup that was cut off or edited has another. */
export function manifestChecksum({ curd, createdAt, database, images }: Omit<Manifest, 'seal'>): string {
  return hash('sha256', JSON.stringify([curd, createdAt, database, images]));
}

export const databaseEntry = 'curd.sqlite';
export const imagesEntry = 'images';
export const manifestEntry = 'manifest.json';

/**
 * Writes the shop, images included, to one tar file. A server may run meanwhile.
 * @param target the file; for regular backups, a folder or a file name with `{date}`
 */
export async function runBackup(target: string, options: OptionsOf<typeof backupOptions>): Promise<void> {
  requireDatabaseFile(databaseLocation(options), (file) => `There is no database at ${file}.`);
  const config = await configForExistingShop(options);
  if (config.database.engine === 'postgres') {
    throw new ConfigError(
      `A shop on PostgreSQL is backed up with pg_basebackup or pg_dump: see docs/operations.md. "${commandName} copy --to sqlite:<file>" also writes one file.`,
    );
  }
  const { file: databaseFile } = config.database;
  const pattern = pathPattern(target);
  requireSeveralNames(options.keep, pattern, target);
  const createdAt = timestamp(systemClock.now());
  const file = pattern.replace(datePlaceholder, dateOf(createdAt));
  if (existsSync(file)) {
    throw new ConfigError(`${file} already exists. Name another file, or a folder.`);
  }
  requireFolder(dirname(file));
  const images = await writeBackup(file, databaseFile, config, createdAt);
  storeBackupTime(databaseFile, createdAt);
  const removed = options.keep === undefined ? [] : await deleteOldBackups(pattern, options.keep);
  const { size } = await stat(file);
  const missing = images.missing.length;
  printResult(
    options,
    { file, bytes: size, createdAt, images: images.written, missing: images.missing, removed },
    [
      `The shop as of ${createdAt} is in ${file}: ${Math.ceil(size / 1e6)} MB, ${pluralize(images.written, 'image')}${missing === 0 ? '' : `, without ${missing} whose files are missing`}.`,
      ...removed.map((old) => `Deleted ${old}.`),
      'Keep CURD_SECRET too, in another place. If it is not set, it is in the file `secret` of the data folder.',
    ].join('\n'),
  );
}

/** Gathers the parts of the backup in a folder, and gives the file its name when it is complete. */
async function writeBackup(file: string, databaseFile: string, config: Config, createdAt: string) {
  const folder = `${file}${unfinishedEnding}`;
  try {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { mode: 0o700 });
    const copy = join(folder, databaseEntry);
    copyDatabaseFile(databaseFile, copy);
    const stored = await storedFilesIn(copy);
    const bar = progressBar(stored.length);
    const images = await copyFiles(
      await openFiles(config, systemClock),
      openFolder(join(folder, imagesEntry), systemClock),
      stored,
      (done) => bar.show(done, 'images'),
    ).finally(bar.clear);
    const manifest = {
      curd: packageJson.version,
      createdAt,
      database: await sha256OfFile(copy),
      images: images.written,
    };
    await writeFile(
      join(folder, manifestEntry),
      JSON.stringify({ ...manifest, seal: manifestChecksum(manifest) }),
    );
    const unfinished = join(folder, 'tar');
    const entries = [databaseEntry, ...(images.written > 0 ? [imagesEntry] : []), manifestEntry];
    await create({ file: unfinished, cwd: folder, portable: true, mode: 0o600 } as never, entries);
    await fsyncPath(unfinished);
    await rename(unfinished, file);
    await fsyncPath(dirname(file));
    return images;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function requireFolder(folder: string): void {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) {
    throw new ConfigError(`There is no folder ${folder}. Create it first.`);
  }
  if (!stats.isDirectory()) {
    throw new ConfigError(`${folder} is a file, not a folder. Name another path.`);
  }
}

async function storedFilesIn(file: string): Promise<StoredFile[]> {
  const database = await openDatabase({ database: { engine: 'sqlite', file } });
  return storedFiles(database).finally(database.close);
}

import { existsSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { extract, list } from 'tar';
import { systemClock, timestamp } from '../clock.ts';
import { openDatabase } from '../database/database.ts';
import { migrate } from '../database/migrate.ts';
import { environmentIn, integrityErrors, isInUse, replaceDatabaseFile } from '../database/sqlite-file.ts';
import { copyFiles, type StoredFile } from '../files/copy-files.ts';
import { sha256OfFile } from '../files/digest.ts';
import { openFiles } from '../files/files.ts';
import { openFolder } from '../files/folder.ts';
import { storedFiles } from '../images/service.ts';
import type { Environment } from '../settings/config.ts';
import { ConfigError } from '../settings/parsers.ts';
import { databaseEntry, imagesEntry, type Manifest, manifestEntry, sealOf } from './backup.ts';
import type { CommandOptions } from './options.ts';
import { pluralize, printResult } from './output.ts';
import { progressBar } from './progress.ts';
import { readConfig } from './run-command.ts';

/** Puts the shop of a backup in the place of the one that is there, once all of the backup is known to be whole. */
export async function runRestore(name: string, options: CommandOptions): Promise<void> {
  const config = readConfig(options);
  if (config.database.engine === 'postgres') {
    throw new ConfigError(
      'A backup is restored on SQLite: leave CURD_DATABASE out. "curd copy --to postgres://..." brings it to PostgreSQL then.',
    );
  }
  const source = resolve(name);
  const stats = statSync(source, { throwIfNoEntry: false });
  if (stats === undefined) {
    throw new ConfigError(`There is no backup at ${source}.`);
  }
  if (stats.isDirectory()) {
    throw new ConfigError(`${source} is a folder: name the backup in it.`);
  }
  const { file } = config.database;
  const folder = join(dirname(file), `restoring-${systemClock.uuid()}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { manifest, images } = await unpack(source, folder);
    requireEnvironment('The backup is of', join(folder, databaseEntry), config.environment);
    requireUnused(file);
    requireEnvironment(`In ${file} is`, file, config.environment);
    const bar = progressBar(images.length);
    const copied = await copyFiles(
      openFolder(join(folder, imagesEntry), systemClock),
      await openFiles(config, systemClock),
      images,
      (done) => bar.show(done, 'pictures'),
    ).finally(bar.clear);
    const kept = `${file}.before-${timestamp(systemClock.now()).replace(/[:.]/g, '-')}`;
    const hadOne = existsSync(file);
    // Once more: unpacking may have taken long.
    requireUnused(file);
    await replaceDatabaseFile(file, join(folder, databaseEntry), kept);
    printResult(
      options,
      { restored: source, createdAt: manifest.createdAt, images: copied.files, kept: hadOne ? kept : null },
      `The shop is as it was at ${manifest.createdAt}, with ${pluralize(copied.files, 'picture')}.${hadOne ? `\nWhat was there before is kept in ${kept}: delete it when you need it no more.` : ''}`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Neither a production shop is replaced by a trial, nor the reverse. */
function requireEnvironment(where: string, file: string, environment: Environment): void {
  const stored = environmentIn(file);
  if (stored !== null && stored !== environment) {
    throw new ConfigError(
      `${where} a ${stored} shop, but the settings are for ${environment}: set CURD_ENVIRONMENT=${stored}. After the restore, "curd environment change" can change it. Nothing was changed.`,
    );
  }
}

function requireUnused(file: string): void {
  if (isInUse(file)) {
    throw new ConfigError(`A server, or another command, has ${file} open: stop it first.`);
  }
}

/** A log beside the database, say, would change it, and a link could lead anywhere. */
function isOurs({ path, type }: { readonly path: string; readonly type: string }): boolean {
  const pattern =
    type === 'Directory'
      ? /^images\/([0-9a-f]{2}\/)?$/
      : /^(curd\.sqlite|manifest\.json|images\/[0-9a-f]{2}\/[0-9a-f]{64}\.(jpg|png|webp))$/;
  return ['File', 'OldFile', 'Directory'].includes(type) && pattern.test(path);
}

/** The content of a backup in a folder. @throws ConfigError where anything of it is not as it was written */
async function unpack(source: string, folder: string): Promise<{ manifest: Manifest; images: StoredFile[] }> {
  const damaged = (why: string) =>
    new ConfigError(`${source} is damaged, or no backup of Curd: ${why}. Nothing was changed.`);
  try {
    // All of it before any of it: nothing but what a backup consists of is unpacked.
    const strange: string[] = [];
    await list({
      file: source,
      strict: true,
      onReadEntry: (entry) => isOurs(entry) || strange.push(entry.path),
    });
    if (strange.length > 0) {
      throw new Error(`it holds ${strange[0]}, which is no part of one`);
    }
    await extract({ file: source, cwd: folder, strict: true });
  } catch (error) {
    throw damaged((error as Error).message);
  }
  const database = join(folder, databaseEntry);
  const manifest = await manifestIn(folder);
  if (manifest === null || !existsSync(database)) {
    throw damaged('it is not complete');
  }
  if ((await sha256OfFile(database)) !== manifest.database) {
    throw damaged('the database is not the one that was written');
  }
  const faults = integrityErrors(database);
  if (faults.length > 0) {
    throw damaged(`the database has faults (${faults[0]})`);
  }
  const stored = await storedImages(database);
  const present = new Set(await readdir(join(folder, imagesEntry), { recursive: true }).catch(() => []));
  // A picture whose cheese was deleted while the backup was made has a row and no file.
  const images = stored.filter(({ name }) => present.has(join(name.slice(0, 2), name)));
  if (images.length !== manifest.images) {
    throw damaged(`it should hold ${pluralize(manifest.images, 'picture')}, and holds ${images.length}`);
  }
  for (const { name } of images) {
    if ((await sha256OfFile(join(folder, imagesEntry, name.slice(0, 2), name))) !== name.split('.', 1)[0]) {
      throw damaged(`the picture ${name} is not the one that was written`);
    }
  }
  if (manifest.seal !== sealOf(manifest)) {
    throw damaged('what it says of itself is not what was written');
  }
  return { manifest, images };
}

async function manifestIn(folder: string): Promise<Manifest | null> {
  try {
    return JSON.parse(await readFile(join(folder, manifestEntry), 'utf8')) as Manifest;
  } catch {
    return null;
  }
}

/** Brings the database to the schema of this program on the way: a newer one is refused. */
async function storedImages(file: string): Promise<StoredFile[]> {
  const database = await openDatabase({ database: { engine: 'sqlite', file } });
  try {
    await migrate(database);
    return await storedFiles(database);
  } finally {
    await database.close();
  }
}

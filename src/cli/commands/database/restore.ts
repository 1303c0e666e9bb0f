import { existsSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { extract, list } from 'tar';
import {
  countContents,
  type GivenIds,
  leaveOutIds,
  readGivenIds,
  type ShopContents,
} from '../../../app/shop-contents.ts';
import { systemClock, timestamp } from '../../../clock.ts';
import { commandName } from '../../../command-name.ts';
import type { Sql } from '../../../database/database.ts';
import { migrate, requireOwnSchema } from '../../../database/migrate.ts';
import { openDatabase } from '../../../database/open.ts';
import {
  environmentIn,
  integrityErrors,
  isInUse,
  replaceDatabaseFile,
} from '../../../database/sqlite/database-file.ts';
import { beginForeignEpoch } from '../../../event-log/numbering.ts';
import { copyFiles, type StoredFile } from '../../../files/copy-files.ts';
import { sha256OfFile } from '../../../files/digest.ts';
import { digestInName, isFileName } from '../../../files/file-name.ts';
import { openFolder } from '../../../files/folder.ts';
import { openFiles } from '../../../files/open.ts';
import { storedFiles } from '../../../images/service.ts';
import { pauseMails } from '../../../mail/pause.ts';
import type { Config, Environment } from '../../../settings/config.ts';
import { ConfigError } from '../../../settings/parsers.ts';
import { secretFile } from '../../../settings/secret.ts';
import { disableAllEndpoints } from '../../../webhooks/disable.ts';
import type { restoreOptions } from '../../framework/command-options.ts';
import type { OptionsOf } from '../../framework/options.ts';
import { disabledEndpointsText, mailsPausedText, pluralize, printResult } from '../../framework/output.ts';
import { progressBar } from '../../framework/progress.ts';
import { readConfig } from '../../framework/run-command.ts';
import { databaseEntry, imagesEntry, type Manifest, manifestChecksum, manifestEntry } from './backup.ts';

/** Replaces the shop by the shop of a backup, after the whole backup was checked. */
export async function runRestore(name: string, options: OptionsOf<typeof restoreOptions>): Promise<void> {
  const config = readConfig(options);
  if (config.database.engine === 'postgres') {
    throw new ConfigError(
      `A backup is restored on SQLite. Leave CURD_DATABASE out, then run "${commandName} copy --to postgres://..." to copy it to PostgreSQL.`,
    );
  }
  const source = resolve(name);
  const stats = statSync(source, { throwIfNoEntry: false });
  if (stats === undefined) {
    throw new ConfigError(`There is no backup at ${source}.`);
  }
  if (stats.isDirectory()) {
    throw new ConfigError(`${source} is a folder. Name a backup in it.`);
  }
  const { file } = config.database;
  const folder = join(dirname(file), `restoring-${systemClock.uuid()}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const present = await readPresent(file);
    const { manifest, images, disabledEndpoints } = await unpack(
      source,
      folder,
      present ?? noShop,
      options.idGap,
    );
    requireEnvironment('The backup is of', join(folder, databaseEntry), config.environment);
    requireUnused(file);
    requireEnvironment(`In ${file} is`, file, config.environment);
    if (!options.yes) {
      requireNoData(file, present);
    }
    const bar = progressBar(images.length);
    const copied = await copyFiles(
      openFolder(join(folder, imagesEntry), systemClock),
      await openFiles(config, systemClock),
      images,
      (done) => bar.show(done, 'images'),
    ).finally(bar.clear);
    const kept = `${file}.before-${timestamp(systemClock.now()).replace(/[:.]/g, '-')}`;
    const hadShop = existsSync(file);
    // Checked again, because a server may have started during the unpacking.
    requireUnused(file);
    await replaceDatabaseFile(file, join(folder, databaseEntry), kept);
    printResult(
      options,
      {
        restored: source,
        createdAt: manifest.createdAt,
        images: copied.files,
        kept: hadShop ? kept : null,
        disabledEndpoints,
        idGap: options.idGap,
      },
      `The shop is restored as of ${manifest.createdAt}, with ${pluralize(copied.files, 'image')}.${hadShop ? `\nThe previous database is kept in ${kept}. Delete it when you do not need it.` : ''}\nNew ids begin ${options.idGap} later than in the backup, because ids of after the backup may be known to customers.${secretText(config)}${disabledEndpointsText(disabledEndpoints)}${mailsPausedText}`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A backup does not contain the secret. On another machine, the settings have created another one. */
function secretText({ dataDir, given }: Config): string {
  const isCreated = given.some(({ variable, origin }) => variable === 'CURD_SECRET' && origin === 'default');
  return isCreated
    ? `\nThe secret of this shop is in ${join(dataDir, secretFile)}. If the backup is of another machine, replace it by the secret from there before you start the server: without it, the secrets of webhook endpoints cannot be read.`
    : '';
}

/** A backup of one environment does not replace a shop of another. @throws ConfigError */
function requireEnvironment(where: string, file: string, environment: Environment): void {
  const stored = environmentIn(file);
  if (stored !== null && stored !== environment) {
    throw new ConfigError(
      `${where} a ${stored} shop, but the settings are for ${environment}: set CURD_ENVIRONMENT=${stored}. After the restore, "${commandName} environment change" can change it. Nothing was changed.`,
    );
  }
}

function requireUnused(file: string): void {
  if (isInUse(file)) {
    throw new ConfigError(`A server or another command has ${file} open. Stop it first.`);
  }
}

/** What is known about the shop that a restore replaces. */
interface Present {
  readonly contents: ShopContents;
  readonly ids: GivenIds;
}

const noShop: Present = {
  contents: { cheeses: 0, orders: 0, customers: 0 },
  ids: { cheese: 0, tables: new Map() },
};

/** null if the file cannot be read, which is a reason to restore. */
async function readPresent(file: string): Promise<Present | null> {
  if (!existsSync(file)) {
    return noShop;
  }
  try {
    const database = await openDatabase({ database: { engine: 'sqlite', file } });
    return await presentIn(database).finally(database.close);
  } catch {
    return null;
  }
}

async function presentIn(database: Sql): Promise<Present> {
  return { contents: await countContents(database), ids: await readGivenIds(database) };
}

/** @throws ConfigError when the database has data, or cannot be read, so that nobody knows */
function requireNoData(file: string, present: Present | null): void {
  if (present === null) {
    throw new ConfigError(
      `${file} exists and cannot be read. Add --yes to replace it. It is kept beside the new one.`,
    );
  }
  const { cheeses, orders, customers } = present.contents;
  if (cheeses + orders + customers > 0) {
    throw new ConfigError(
      `${file} has a shop with ${pluralize(cheeses, 'cheese')}, ${pluralize(orders, 'order')} and ${pluralize(customers, 'customer')}. Add --yes to replace it. It is kept beside the new one.`,
    );
  }
}

/** Other entries are refused: a WAL file would change the database, and a link could lead outside of the folder. */
function isBackupEntry({ path, type }: { readonly path: string; readonly type: string }): boolean {
  if (type === 'Directory') {
    return /^images\/([0-9a-f]{2}\/)?$/.test(path);
  }
  const image = /^images\/[0-9a-f]{2}\/([^/]+)$/.exec(path)?.[1];
  const isKnown = image === undefined ? [databaseEntry, manifestEntry].includes(path) : isFileName(image);
  return isKnown && ['File', 'OldFile'].includes(type);
}

interface Unpacked {
  readonly manifest: Manifest;
  readonly images: readonly StoredFile[];
  readonly disabledEndpoints: readonly number[];
}

/** Unpacks a backup into a folder. @throws ConfigError when any part differs from what was written */
async function unpack(source: string, folder: string, replaced: Present, idGap: number): Promise<Unpacked> {
  const damaged = (why: string) =>
    new ConfigError(`${source} is damaged, or not a backup of Curd: ${why}. Nothing was changed.`);
  try {
    // All names are checked before the first entry is unpacked.
    const unknown: string[] = [];
    await list({
      file: source,
      strict: true,
      onReadEntry: (entry) => isBackupEntry(entry) || unknown.push(entry.path),
    });
    if (unknown.length > 0) {
      throw new Error(`it contains ${unknown[0]}, which does not belong to a backup`);
    }
    await extract({ file: source, cwd: folder, strict: true });
  } catch (error) {
    throw damaged((error as Error).message);
  }
  const database = join(folder, databaseEntry);
  const manifest = await manifestIn(folder);
  if (manifest === null || !existsSync(database)) {
    throw damaged('it is incomplete');
  }
  if ((await sha256OfFile(database)) !== manifest.database) {
    throw damaged('the checksum of the database is wrong');
  }
  const [error] = integrityErrors(database);
  if (error !== undefined) {
    throw damaged(`the database has errors (${error})`);
  }
  const { stored, disabledEndpoints } = await prepareRestored(database, replaced, idGap);
  const present = new Set(await readdir(join(folder, imagesEntry), { recursive: true }).catch(() => []));
  // An image whose cheese was deleted during the backup has a row but no file.
  const images = stored.filter(({ name }) => present.has(join(name.slice(0, 2), name)));
  if (images.length !== manifest.images) {
    throw damaged(`it should contain ${pluralize(manifest.images, 'image')}, but contains ${images.length}`);
  }
  for (const { name } of images) {
    if ((await sha256OfFile(join(folder, imagesEntry, name.slice(0, 2), name))) !== digestInName(name)) {
      throw damaged(`the checksum of the image ${name} is wrong`);
    }
  }
  if (manifest.seal !== manifestChecksum(manifest)) {
    throw damaged('the checksum of its manifest is wrong');
  }
  return { manifest, images, disabledEndpoints };
}

async function manifestIn(folder: string): Promise<Manifest | null> {
  try {
    return JSON.parse(await readFile(join(folder, manifestEntry), 'utf8')) as Manifest;
  } catch {
    return null;
  }
}

/**
 * Migrates the database first, begins an epoch of the event log, leaves out ids, and disables webhook endpoints. A newer
 * schema is refused.
 */
async function prepareRestored(
  file: string,
  { ids }: Present,
  idGap: number,
): Promise<{ stored: StoredFile[]; disabledEndpoints: number[] }> {
  const database = await openDatabase({ database: { engine: 'sqlite', file } });
  try {
    await migrate(database);
    await requireOwnSchema(database, 'restore');
    const disabledEndpoints = await database.transaction(async (tx) => {
      await beginForeignEpoch(tx, systemClock, 'restored');
      await leaveOutIds(tx, ids, idGap);
      await pauseMails(tx);
      return disableAllEndpoints(tx, systemClock);
    });
    return { stored: await storedFiles(database), disabledEndpoints };
  } finally {
    await database.close();
  }
}

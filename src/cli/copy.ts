import { dirname, join } from 'node:path';
import { containsShop } from '../app/shop-contents.ts';
import { systemClock, timestamp } from '../clock.ts';
import {
  beginCopy,
  copyTables,
  endCopy,
  hasUnfinishedCopy,
  type TableCopyResult,
} from '../database/copy-tables.ts';
import { type Database, openDatabase, type Sql } from '../database/database.ts';
import { migrate, requireOwnSchema } from '../database/migrate.ts';
import { beginEpochOf } from '../events/numbering.ts';
import { type CopiedFiles, copyFiles } from '../files/copy-files.ts';
import { openFiles } from '../files/files.ts';
import { storedFiles } from '../images/service.ts';
import { recountOrders } from '../orders/order-counter.ts';
import { parseSettings } from '../settings/config.ts';
import {
  ConfigError,
  type DatabaseLocation,
  type ImageLocation,
  imagesIn,
  parseImages,
} from '../settings/parsers.ts';
import { disableAllEndpoints } from '../webhooks/disable.ts';
import type { copyOptions } from './command-options.ts';
import type { OptionsOf } from './options.ts';
import { disabledEndpointsText, pluralize, printResult } from './output.ts';
import { progressBar } from './progress.ts';
import { rawSettings, requireDatabaseFile } from './run-command.ts';

type CopyOptions = OptionsOf<typeof copyOptions>;

const missingExitCode = 2;
const sameDatabase = '--from and --to are the same database. Set --to to another one.';

/** Where a shop is, or where it is copied to. */
interface ShopLocation {
  readonly database: DatabaseLocation;
  readonly images: ImageLocation;
}

/** Copies a shop to another database, and its images to another location. */
export async function runCopy(options: CopyOptions): Promise<void> {
  const { from, to } = shopLocations(options);
  if (isEqual(from.database, to.database)) {
    throw new ConfigError(sameDatabase);
  }
  requireDatabaseFile(from.database, (file) => `There is no database at ${file}. Set --from to where it is.`);
  const source = await openDatabase(from);
  try {
    const target = await openDatabase(to);
    try {
      await migrate(source);
      await requireOwnSchema(source, 'copy');
      if (await hasUnfinishedCopy(source)) {
        throw new ConfigError('The source is itself a copy that has not finished. Finish that copy first.');
      }
      await migrate(target);
      await requireOwnSchema(target, 'copy');
      await prepare(target, nameOf(from.database), options.overwrite);
      if (await isSameDatabase(source)) {
        await endCopy(target);
        throw new ConfigError(sameDatabase);
      }
      const startedAt = timestamp(systemClock.now());
      const report = await source.snapshot(async (snapshot) => ({
        startedAt,
        tables: await copyRows(snapshot, source, target),
        images: await copyImages(snapshot, from.images, to.images),
      }));
      // Otherwise the first lists of orders would read a change for each order that was copied.
      await recountOrders(target);
      await beginEpochOf(target, systemClock, 'copied');
      const disabledEndpoints = await disableAllEndpoints(target, systemClock);
      await endCopy(target);
      printResult(
        options,
        { ...report, disabledEndpoints },
        `${reportText(report, from, to)}${disabledEndpointsText(disabledEndpoints)}`,
      );
      if (report.images !== null && report.images.missing.length > 0) {
        process.exitCode = missingExitCode;
      }
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/**
 * Whether source and target are one database under two URLs or paths. Texts cannot tell, because of links, host names and
 * parameters. The target was just marked as an unfinished copy: a source with this mark is the target.
 */
function isSameDatabase(source: Sql): Promise<boolean> {
  return hasUnfinishedCopy(source);
}

function shopLocations(options: CopyOptions): { from: ShopLocation; to: ShopLocation } {
  const raw = rawSettings(options);
  const { dataDir, database } = parseSettings(raw, ['dataDir', 'database']);
  const from = options.from ?? database;
  const { to } = options;
  const imagesBeside = (location: DatabaseLocation) => imagesIn(folderOf(location, dataDir));
  const fromImages =
    options.fromImages ??
    (raw.CURD_IMAGES === undefined ? imagesBeside(from) : parseImages(raw.CURD_IMAGES, 'CURD_IMAGES'));
  const toImages = options.toImages ?? (to.engine === 'sqlite' ? imagesBeside(to) : fromImages);
  return {
    from: { database: from, images: fromImages },
    to: { database: to, images: toImages },
  };
}

/** The folder of the images by default: beside the SQLite file. */
function folderOf(location: DatabaseLocation, dataDir: string): string {
  return location.engine === 'sqlite' ? dirname(location.file) : dataDir;
}

/** Marks the target as an unfinished copy. @throws ConfigError when it contains a shop, unless `mayOverwrite` */
async function prepare(target: Database, from: string, mayOverwrite: boolean): Promise<void> {
  if (!(await hasUnfinishedCopy(target)) && !mayOverwrite && (await containsShop(target))) {
    throw new ConfigError(
      'There is a shop in the target already. Add --overwrite to replace it by the source; everything else in it is lost.',
    );
  }
  await beginCopy(target, from);
}

async function copyRows(snapshot: Sql, source: Database, target: Database): Promise<TableCopyResult[]> {
  const bar = progressBar(1);
  return copyTables(snapshot, source.engine, target, (done, total, note) =>
    bar.show(done / total, note),
  ).finally(bar.clear);
}

/** null when the images stay where they are. */
async function copyImages(
  snapshot: Sql,
  from: ImageLocation,
  to: ImageLocation,
): Promise<CopiedFiles | null> {
  if (isEqual(from, to)) {
    return null;
  }
  const files = await storedFiles(snapshot);
  const bar = progressBar(files.length);
  const [source, target] = [
    await openFiles({ images: from }, systemClock),
    await openFiles({ images: to }, systemClock),
  ];
  return copyFiles(source, target, files, (done) => bar.show(done, 'copying images')).finally(bar.clear);
}

function isEqual(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The database without its password. */
function nameOf(location: DatabaseLocation): string {
  return location.engine === 'sqlite'
    ? location.file
    : location.url.replace(/\/\/[^/]*@/, '//').replace(/\?.*/, '');
}

function imagesText(images: ImageLocation): string {
  return images.kind === 'folder' ? `file:${images.folder}` : `s3://${join(images.bucket, images.prefix)}`;
}

interface Report {
  readonly startedAt: string;
  readonly tables: readonly TableCopyResult[];
  readonly images: CopiedFiles | null;
}

function reportText({ startedAt, tables, images }: Report, from: ShopLocation, to: ShopLocation): string {
  const sum = (of: (table: TableCopyResult) => number) =>
    tables.reduce((total, table) => total + of(table), 0);
  const rowsText = `In ${nameOf(to.database)}: ${pluralize(
    sum(({ rows }) => rows),
    'row',
  )} in ${tables.length} tables, equal to the source; ${sum(({ written }) => written)} written, ${sum(({ removed }) => removed)} removed.`;
  const filesText =
    images === null
      ? `The images stay in ${imagesText(from.images)}.`
      : `In ${imagesText(to.images)}: ${pluralize(images.files - images.missing.length, 'image')}, ${images.written} written.`;
  const missing = images?.missing ?? [];
  const missingText =
    missing.length === 0
      ? []
      : [
          `Missing in the source: ${pluralize(missing.length, 'image')} (${missing.slice(0, 20).join(', ')}).`,
        ];
  return [
    rowsText,
    filesText,
    ...missingText,
    `Changes after ${startedAt} are not copied. If a server was running, stop it and copy again with --overwrite, which writes only the differences.`,
    'Start the new shop with the same CURD_SECRET. If it is not set, it is in the file `secret` of the data folder.',
  ].join('\n');
}

import { dirname, join } from 'node:path';
import { containsShop } from '../app/shop-contents.ts';
import { systemClock, timestamp } from '../clock.ts';
import {
  beginCopy,
  type CopiedTable,
  copyTables,
  endCopy,
  hasUnfinishedCopy,
} from '../database/copy-tables.ts';
import { type Database, openDatabase, type Sql } from '../database/database.ts';
import { migrate } from '../database/migrate.ts';
import { type CopiedFiles, copyFiles } from '../files/copy-files.ts';
import { openFiles } from '../files/files.ts';
import { storedFiles } from '../images/service.ts';
import { parseSettings } from '../settings/config.ts';
import {
  ConfigError,
  type DatabaseLocation,
  type ImageLocation,
  imagesIn,
  parseImages,
} from '../settings/parsers.ts';
import type { copyOptions } from './command-options.ts';
import type { OptionsOf } from './options.ts';
import { pluralize, printResult } from './output.ts';
import { progressBar } from './progress.ts';
import { rawSettings, requireDatabaseFile } from './run-command.ts';

type CopyOptions = OptionsOf<typeof copyOptions>;

const missingExitCode = 2;
const sameDatabase = '--from and --to are the same database.';

/** Where a shop is, or shall be. */
interface ShopLocation {
  readonly database: DatabaseLocation;
  readonly images: ImageLocation;
}

/** Brings a shop to another database, and its pictures to another place. */
export async function runCopy(options: CopyOptions): Promise<void> {
  const { from, to } = shopLocations(options);
  if (isSame(from.database, to.database)) {
    throw new ConfigError(sameDatabase);
  }
  requireDatabaseFile(
    from.database,
    (file) => `There is no database at ${file}: say with --from where it is.`,
  );
  const source = await openDatabase(from);
  try {
    const target = await openDatabase(to);
    try {
      await migrate(source);
      if (await hasUnfinishedCopy(source)) {
        throw new ConfigError('The source is itself a copy that has not finished: finish that one first.');
      }
      await migrate(target);
      await prepare(target, nameOf(from.database), options.overwrite);
      if (await hasUnfinishedCopy(source)) {
        await endCopy(target);
        throw new ConfigError(sameDatabase);
      }
      const startedAt = timestamp(systemClock.now());
      const report = await source.snapshot(async (snapshot) => ({
        startedAt,
        tables: await copyRows(snapshot, source, target),
        images: await copyPictures(snapshot, from.images, to.images),
      }));
      await endCopy(target);
      printResult(options, report, reportText(report, from, to));
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

/** Pictures lie beside the file of the database, where nothing else is said. */
function folderOf(place: DatabaseLocation, dataDir: string): string {
  return place.engine === 'sqlite' ? dirname(place.file) : dataDir;
}

/** Nothing of somebody's shop is overwritten by mistake. */
async function prepare(target: Database, from: string, mayOverwrite: boolean): Promise<void> {
  if (!(await hasUnfinishedCopy(target)) && !mayOverwrite && (await containsShop(target))) {
    throw new ConfigError(
      'There is a shop in the target already: --overwrite makes it the same as the source, and loses what else is in it.',
    );
  }
  await beginCopy(target, from);
}

async function copyRows(snapshot: Sql, source: Database, target: Database): Promise<CopiedTable[]> {
  const bar = progressBar(1);
  return copyTables(snapshot, source.engine, target, (done, total, note) =>
    bar.show(done / total, note),
  ).finally(bar.clear);
}

/** null where the pictures stay where they are. */
async function copyPictures(
  snapshot: Sql,
  from: ImageLocation,
  to: ImageLocation,
): Promise<CopiedFiles | null> {
  if (isSame(from, to)) {
    return null;
  }
  const files = await storedFiles(snapshot);
  const bar = progressBar(files.length);
  const [source, target] = [
    await openFiles({ images: from }, systemClock),
    await openFiles({ images: to }, systemClock),
  ];
  return copyFiles(source, target, files, (done) => bar.show(done, 'copying pictures')).finally(bar.clear);
}

function isSame(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Without the password. */
function nameOf(place: DatabaseLocation): string {
  return place.engine === 'sqlite' ? place.file : place.url.replace(/\/\/[^/]*@/, '//').replace(/\?.*/, '');
}

function placeOf(images: ImageLocation): string {
  return images.kind === 'folder' ? `file:${images.folder}` : `s3://${join(images.bucket, images.prefix)}`;
}

interface Report {
  readonly startedAt: string;
  readonly tables: readonly CopiedTable[];
  readonly images: CopiedFiles | null;
}

function reportText({ startedAt, tables, images }: Report, from: ShopLocation, to: ShopLocation): string {
  const sum = (of: (table: CopiedTable) => number) => tables.reduce((total, table) => total + of(table), 0);
  const ofRows = `In ${nameOf(to.database)}: ${pluralize(
    sum(({ rows }) => rows),
    'row',
  )} of ${tables.length} tables, the same as here; ${sum(({ written }) => written)} written, ${sum(({ removed }) => removed)} removed.`;
  const ofPictures =
    images === null
      ? `The pictures stay in ${placeOf(from.images)}.`
      : `In ${placeOf(to.images)}: ${pluralize(images.files - images.missing.length, 'picture')}, ${images.written} written.`;
  const missing = images?.missing ?? [];
  const lost =
    missing.length === 0
      ? []
      : [
          `Missing in the source: ${pluralize(missing.length, 'picture')} (${missing.slice(0, 20).join(', ')}).`,
        ];
  return [
    ofRows,
    ofPictures,
    ...lost,
    `What the shop changed after ${startedAt} is not in it. If it was open, stop it and copy again with --overwrite, which writes only what differs.`,
    'Start the new one with the same CURD_SECRET; where none was set, it is in the file `secret` of the data folder.',
  ].join('\n');
}

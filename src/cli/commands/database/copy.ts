import { dirname, join } from 'node:path';
import { containsShop } from '../../../app/shop-contents.ts';
import { systemClock, timestamp } from '../../../clock.ts';
import { type CopiedTable, copyTables } from '../../../database/copy/copy-tables.ts';
import type { Database, Sql } from '../../../database/database.ts';
import { migrate, requireOwnSchema } from '../../../database/migrate.ts';
import { openDatabase } from '../../../database/open.ts';
import { beginForeignEpoch } from '../../../event-log/numbering.ts';
import { type CopiedFiles, copyFiles } from '../../../files/copy-files.ts';
import { openFiles } from '../../../files/open.ts';
import { storedFiles } from '../../../images/service.ts';
import { pauseMails } from '../../../mail/pause.ts';
import { recountOrders } from '../../../orders/lists/order-counter.ts';
import { parseSettings } from '../../../settings/config.ts';
import {
  ConfigError,
  type DatabaseLocation,
  type ImageLocation,
  imagesIn,
  parseImages,
} from '../../../settings/parsers.ts';
import { disableAllEndpoints } from '../../../webhooks/disable.ts';
import type { copyOptions } from '../../framework/command-options.ts';
import type { OptionsOf } from '../../framework/options.ts';
import { disabledEndpointsText, mailsPausedText, pluralize, printResult } from '../../framework/output.ts';
import { progressBar } from '../../framework/progress.ts';
import { rawSettings, requireDatabaseFile } from '../../framework/run-command.ts';

type CopyOptions = OptionsOf<typeof copyOptions>;

const missingExitCode = 2;

/** The database and images of a shop, or those to which it is copied. */
interface ShopLocation {
  readonly database: DatabaseLocation;
  readonly images: ImageLocation;
}

/** Copies a shop to an empty database, and its images to another location. */
export async function runCopy(options: CopyOptions): Promise<void> {
  const { from, to } = shopLocations(options);
  if (isEqual(from.database, to.database)) {
    throw new ConfigError('--from and --to are the same database. Set --to to another one.');
  }
  requireDatabaseFile(from.database, (file) => `There is no database at ${file}. Set --from to where it is.`);
  const source = await openDatabase(from);
  try {
    const target = await openDatabase(to);
    try {
      for (const database of [source, target]) {
        await migrate(database);
        await requireOwnSchema(database, 'copy');
      }
      await requireEmpty(target);
      const startedAt = timestamp(systemClock.now());
      const report = await source.longSnapshot(async (snapshot) => {
        // Files come before the rows: files that no row names do no harm, and another copy does not write them again.
        const images = await copyImages(snapshot, from.images, to.images);
        return { startedAt, images, ...(await copyRows(snapshot, target)) };
      });
      printResult(
        options,
        report,
        `${reportText(report, from, to)}${disabledEndpointsText(report.disabledEndpoints)}${mailsPausedText}`,
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

/** @throws ConfigError when the target contains a shop, which can be the source under another URL */
async function requireEmpty(target: Sql): Promise<void> {
  if (await containsShop(target)) {
    throw new ConfigError(
      'There is a shop in the target already, and a copy replaces nothing. Set --to to a new, empty database.',
    );
  }
}

/** Copies in one transaction: a copy that is interrupted leaves nothing, and no server starts on a part of it. */
async function copyRows(snapshot: Sql, target: Database) {
  const bar = progressBar(1);
  return target
    .exclusiveTransaction(async (tx) => {
      await requireEmpty(tx);
      const tables = await copyTables(snapshot, tx, (done, total, note) => bar.show(done / total, note));
      // Otherwise the first lists of orders would read a change for each order that was copied.
      await recountOrders(tx);
      await beginForeignEpoch(tx, systemClock, 'copied');
      await pauseMails(tx);
      return { tables, disabledEndpoints: await disableAllEndpoints(tx, systemClock) };
    })
    .finally(bar.clear);
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
  readonly tables: readonly CopiedTable[];
  readonly images: CopiedFiles | null;
}

function reportText({ startedAt, tables, images }: Report, from: ShopLocation, to: ShopLocation): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
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
    `In ${nameOf(to.database)}: ${pluralize(rows, 'row')} in ${tables.length} tables.`,
    filesText,
    ...missingText,
    `Changes after ${startedAt} are not copied. If a server was running, stop it and copy to another empty database.`,
    'Start the new shop with the same CURD_SECRET. If it is not set, it is in the file `secret` of the data folder.',
  ].join('\n');
}

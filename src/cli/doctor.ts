import { openServices } from '../app/services.ts';
import { checkCatalogue, rebuildSearchIndex } from '../cheeses/consistency-check.ts';
import { inspectImageUrls } from '../cheeses/image-urls.ts';
import { systemClock, timestamp } from '../clock.ts';
import type { Database, Sql } from '../database/database.ts';
import { type Finding, Findings } from '../database/findings.ts';
import { isTlsForgotten } from '../database/postgres-tls.ts';
import { sql } from '../database/sql.ts';
import { openFiles } from '../files/files.ts';
import { checkImages } from '../images/consistency-check.ts';
import { checkCredits, checkOrders } from '../orders/consistency-check.ts';
import type { Config } from '../settings/config.ts';
import { publicImageUrl } from '../settings/urls.ts';
import type { doctorOptions } from './command-options.ts';
import type { CommandOptions, OptionsOf } from './options.ts';
import { printResult } from './output.ts';
import { configOfShop, databaseLocation, requireDatabaseFile } from './run-command.ts';
import { colored } from './style.ts';

const faultsExitCode = 2;
const clockToleranceMs = 1000;

interface Check {
  readonly name: string;
  readonly inspect: (snapshot: Sql) => Promise<Finding[]>;
}

/** Looks a shop over, open or not, and says what to do about what is wrong. */
export async function runDoctor(options: OptionsOf<typeof doctorOptions>): Promise<void> {
  requireDatabaseFile(
    databaseLocation(options),
    (file) => `There is no database at ${file}: nothing to look over yet.`,
  );
  const config = await configOfShop(options);
  const broken = await inspectDatabase(config);
  if (broken.length > 0) {
    report(options, [{ check: 'database', findings: broken }]);
    return;
  }
  const services = await openServices(config);
  const { database } = services;
  try {
    if (options.repair) {
      await rebuildSearchIndex(database, timestamp(systemClock.now()));
    }
    const files = await openFiles(config, systemClock);
    const checks: Check[] = [
      { name: 'settings', inspect: async () => inspectSettings(config) },
      { name: 'clock', inspect: () => inspectClock(database) },
      { name: 'database', inspect: async () => broken },
      { name: 'catalogue', inspect: checkCatalogue },
      { name: 'orders', inspect: checkOrders },
      { name: 'customers', inspect: checkCredits },
      {
        name: 'pictures',
        inspect: async (snapshot) => [
          ...(await checkImages(database, files, systemClock.now())),
          ...(await inspectImageUrls(snapshot, (name) => publicImageUrl(config, name))),
        ],
      },
    ];
    // As of one moment: a shop that is open changes between two looks.
    const results = await database.snapshot(async (snapshot) => {
      const found: Result[] = [];
      for (const { name, inspect } of checks) {
        found.push({ check: name, findings: await inspect(snapshot) });
      }
      return found;
    });
    report(options, results);
  } finally {
    await services.close();
  }
}

interface Result {
  readonly check: string;
  readonly findings: readonly Finding[];
}

function report(options: CommandOptions, results: readonly Result[]): void {
  printResult(options, results, results.map(reportText).join('\n'));
  if (results.some(({ findings }) => findings.some(({ isNote }) => !isNote))) {
    process.exitCode = faultsExitCode;
  }
}

function reportText({ check, findings }: Result): string {
  const ok = findings.every(({ isNote }) => isNote) ? [`${colored('green', 'ok')}      ${check}`] : [];
  const found = findings.map(
    ({ fault, count, examples, remedy, isNote }) =>
      `${isNote ? colored('yellow', 'note ') : colored('red', 'FAULT')}   ${check}: ${fault} (${count})\n        ${examples.join('\n        ')}\n        What to do: ${remedy}.`,
  );
  return [...ok, ...found].join('\n');
}

/** What a server would start with, and its keeper might regret. */
function inspectSettings(config: Config): Finding[] {
  const unsafe = new Findings('settings that a public shop should not have', 'see docs/configuration.md');
  if (config.environment === 'production') {
    if (config.trustedProxies.length === 0 && config.publicUrl?.startsWith('https:')) {
      unsafe.add(
        'CURD_TRUSTED_PROXIES is not set: behind a proxy, all visitors share the limits of one address',
      );
    }
    if (config.database.engine === 'postgres' && isTlsForgotten(config.database.url)) {
      unsafe.add('CURD_DATABASE has no sslmode: the connection is not encrypted; set require, or disable');
    }
    if (config.database.engine === 'postgres' && config.images.kind === 'folder') {
      unsafe.add('CURD_IMAGES is a folder: other instances see its pictures only where they share it');
    }
  }
  return unsafe.found();
}

async function inspectClock(database: Database): Promise<Finding[]> {
  const wrong = new Findings(
    "clock that differs from the database's",
    'let NTP set the clocks of both machines',
  );
  if (database.engine === 'postgres') {
    const before = systemClock.now();
    const row = await database.get<{ now: number }>(
      sql`select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now`,
    );
    const between = (before + systemClock.now()) / 2;
    const offMs = Math.round(between - (row?.now ?? between));
    if (Math.abs(offMs) > clockToleranceMs) {
      wrong.add(`by ${offMs} ms`);
    }
  }
  return wrong.found();
}

/** PostgreSQL keeps its own pages in order; of SQLite we ask. */
async function inspectDatabase(config: Config): Promise<Finding[]> {
  const broken = new Findings('faults in the file of the database', 'restore a backup ("curd restore")');
  if (config.database.engine === 'sqlite') {
    const { integrityErrors } = await import('../database/sqlite-file.ts');
    for (const fault of integrityErrors(config.database.file)) {
      broken.add(fault);
    }
  }
  return broken.found();
}

import { composeShop } from '../../../app/compose.ts';
import { type Clock, clockState, systemClock } from '../../../clock.ts';
import { commandName } from '../../../command-name.ts';
import { type Finding, Findings } from '../../../database/checks/findings.ts';
import { checkTransactionIds } from '../../../database/checks/transaction-ids.ts';
import type { Database, Sql } from '../../../database/database.ts';
import { requireOwnSchema } from '../../../database/migrate.ts';
import { isTlsForgotten } from '../../../database/postgres/tls.ts';
import { sql } from '../../../database/sql.ts';
import { fillGaps } from '../../../event-log/repair.ts';
import type { ConsistencyCheck } from '../../../http/area.ts';
import { type CheckResult, storeDoctorRun } from '../../../operations/integrity.ts';
import { recountUses } from '../../../orders/discount-check.ts';
import { recountOrders } from '../../../orders/lists/order-counter.ts';
import type { Config } from '../../../settings/config.ts';
import { beginCounting, countAll } from '../../../statistics/counting.ts';
import { recountStock } from '../../../stock/consistency-check.ts';
import { toReason } from '../../../system-errors.ts';
import type { doctorOptions } from '../../framework/command-options.ts';
import type { CommandOptions, OptionsOf } from '../../framework/options.ts';
import { printResult } from '../../framework/output.ts';
import { progressBar } from '../../framework/progress.ts';
import { configForExistingShop, databaseLocation, requireDatabaseFile } from '../../framework/run-command.ts';
import { colored } from '../../framework/style.ts';

const failedExitCode = 2;
const clockToleranceMs = 1000;

/** Checks a shop and prints what to do about each finding. A server may run meanwhile. */
export async function runDoctor(options: OptionsOf<typeof doctorOptions>): Promise<void> {
  const startedAt = systemClock.now();
  requireDatabaseFile(
    databaseLocation(options),
    (file) => `There is no database at ${file}. Start the server first, or set --data-dir or --database.`,
  );
  const config = await configForExistingShop(options);
  const bar = progressBar(1);
  bar.show(0, 'pages of the database');
  const broken = await checkDatabaseFile(config).finally(bar.clear);
  if (broken.length > 0) {
    // The run is not stored: writing to a damaged file can damage it further.
    report(options, [{ check: 'database', findings: broken }]);
    return;
  }
  const shop = await composeShop(config);
  const { database } = shop;
  try {
    if (options.repair) {
      await requireOwnSchema(database, 'doctor --repair');
      await fillGaps(database, shop.contextOf('cli').origin);
      await database.transaction(recountStock);
      await database.exclusiveTransaction(recountOrders);
      await database.exclusiveTransaction(recountUses);
      await database.transaction(beginCounting);
      await countAll(database);
    }
    const checks: readonly ConsistencyCheck[] = [
      { name: 'settings', run: async () => checkSettings(config) },
      { name: 'clock', run: async () => [...(await checkClock(database)), ...movedClock(shop.clock)] },
      { name: 'database', run: (snapshot) => checkTransactionIds(snapshot) },
      ...shop.areas.flatMap(({ checks = [] }) => checks),
    ];
    const now = shop.clock.now();
    const checkAll = async (snapshot: Sql) => {
      const found: CheckResult[] = [];
      for (const [index, { name, run }] of checks.entries()) {
        bar.show(index / checks.length, name);
        const onProgress = (done: number, total: number) =>
          bar.show((index + done / total) / checks.length, `${name}: ${done} of ${total}`);
        const findings = await run(snapshot, onProgress, now);
        found.push({ check: name, findings });
      }
      return found;
    };
    // One snapshot for all checks, because a running server changes the data between them.
    const results = await database.longSnapshot(checkAll).finally(bar.clear);
    report(options, results);
    if (!options.noRecord) {
      await record(database, startedAt, results);
    }
  } finally {
    await shop.close();
  }
}

/** Stores the result. The exit status stays that of the checks, also if the database can only be read. */
async function record(database: Database, startedAt: number, results: readonly CheckResult[]): Promise<void> {
  try {
    await storeDoctorRun(database, systemClock, startedAt, results);
  } catch (error) {
    process.stderr.write(
      `The result was not stored, and GET /v2/integrity does not list it: ${toReason(error).replace(/\.$/, '')}. Use --no-record where the database must not be written.\n`,
    );
  }
}

function report(options: CommandOptions, results: readonly CheckResult[]): void {
  printResult(options, results, results.map(reportText).join('\n'));
  if (results.some(({ findings }) => findings.some(({ isNote }) => !isNote))) {
    process.exitCode = failedExitCode;
  }
}

function reportText({ check, findings }: CheckResult): string {
  const ok = findings.every(({ isNote }) => isNote) ? [`${colored('green', 'ok')}      ${check}`] : [];
  const found = findings.map(
    ({ fault, count, examples, remedy, isNote }) =>
      `${isNote ? colored('yellow', 'note ') : colored('red', 'FAULT')}   ${check}: ${fault} (${count})\n        ${examples.join('\n        ')}\n        What to do: ${remedy}.`,
  );
  return [...ok, ...found].join('\n');
}

/** Settings that are valid but unsafe for a public shop. */
function checkSettings(config: Config): Finding[] {
  const unsafe = new Findings('settings that are unsafe for a public shop', 'see docs/configuration.md');
  if (config.environment === 'production') {
    if (config.trustedProxies.length === 0 && config.publicUrl?.startsWith('https:')) {
      unsafe.add(
        'CURD_TRUSTED_PROXIES is not set: behind a proxy, all clients share the limits of one client IP',
      );
    }
    if (config.database.engine === 'postgres' && isTlsForgotten(config.database.url)) {
      unsafe.add('CURD_DATABASE has no sslmode: the connection is not encrypted; set require or disable');
    }
  }
  return unsafe.found();
}

async function checkClock(database: Database): Promise<Finding[]> {
  const wrong = new Findings(
    'clock that differs from the clock of the database',
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

/** A note: the data of such a shop has times in the future. */
function movedClock(clock: Clock): Finding[] {
  const moved = new Findings(
    'the time of the shop was moved forward',
    `nothing where that is a test; "${commandName} reset" empties the shop and sets the clock back`,
    true,
  );
  if (clock.advancedMs() > 0) {
    const { now, advancedBy } = clockState(clock);
    moved.add(`by ${advancedBy}: it is ${now}`);
  }
  return moved.found();
}

/** Integrity check of an SQLite file. PostgreSQL checks its own pages. */
async function checkDatabaseFile(config: Config): Promise<Finding[]> {
  const broken = new Findings('errors in the database file', `restore a backup ("${commandName} restore")`);
  if (config.database.engine === 'sqlite') {
    const { integrityErrors } = await import('../../../database/sqlite/database-file.ts');
    for (const error of integrityErrors(config.database.file)) {
      broken.add(error);
    }
  }
  return broken.found();
}

/** Results of `curd doctor`, stored for operators who do not see its output. */
import { type Clock, timestamp } from '../clock.ts';
import type { Finding } from '../database/checks/findings.ts';
import type { Database, Sql } from '../database/database.ts';
import { administrationQueries } from './queries.ts';

const storedMax = 30;

/** The findings of one check. */
export interface CheckResult {
  readonly check: string;
  readonly findings: readonly Finding[];
}

/** One run of `curd doctor`. */
export interface DoctorRun {
  readonly at: string;
  readonly seconds: number;
  /** Findings that are errors. */
  readonly faults: number;
  readonly checks: readonly CheckResult[];
}

/**
 * Stores a result, and deletes all but the newest.
 * @param startedAt in milliseconds
 */
export async function storeDoctorRun(
  database: Database,
  clock: Clock,
  startedAt: number,
  checks: readonly CheckResult[],
): Promise<void> {
  const seconds = Math.max(0, Math.round((clock.now() - startedAt) / 1000));
  await database.transaction(async (tx) => {
    const queries = administrationQueries(tx);
    await queries.insertDoctorRun({ at: timestamp(startedAt), seconds, result: JSON.stringify(checks) });
    await queries.deleteDoctorRuns(storedMax);
  });
}

/** The stored results, newest first. Two runs that end at the same moment can leave more than the default. */
export async function listDoctorRuns(database: Sql, limit = storedMax): Promise<DoctorRun[]> {
  const rows = await administrationQueries(database).listDoctorRuns(limit);
  return rows.map(({ at, seconds, result }) => {
    const checks = JSON.parse(result) as CheckResult[];
    const findings = checks.flatMap((check) => check.findings);
    return { at, seconds, faults: findings.filter(({ isNote }) => !isNote).length, checks };
  });
}

/** Checks the numbers of the event log. */
import { timestamp } from '../clock.ts';
import { commandName } from '../command-name.ts';
import { type Finding, Findings } from '../database/checks/findings.ts';
import type { Sql } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import { eventLogQueries } from './log-queries.ts';
import { listGaps } from './repair.ts';

/** How long an event may wait for its number: a server numbers events every second. */
const waitingMaxMs = 60_000;
const examplesMax = 1000;

/** @param database a snapshot, because events are numbered meanwhile */
export async function checkEventLog(database: Sql, now: number): Promise<Finding[]> {
  const gaps = new Findings(
    'numbers that are missing in the event log',
    `run "${commandName} doctor --repair", which writes shop.event_withdrawn for each of them: clients that read the log have missed these events`,
  );
  const above = new Findings(
    'numbers in the event log that are above its last one',
    'restore a backup: clients that read the log will get other events with these numbers',
  );
  const waiting = new Findings(
    'events that have waited for their number for more than a minute',
    'start a server: it numbers them. If one runs, its log says why it cannot',
  );
  const queries = eventLogQueries(database);
  for (const { from, until } of await listGaps(database, examplesMax)) {
    gaps.add(from === until ? `${from} is missing` : `${from} to ${until} are missing`);
  }
  const { last = 0 } = (await queries.findLog()) ?? {};
  const { highest } = (await queries.findHighest()) ?? {};
  if ((highest ?? last) > last) {
    above.add(`${highest} is above ${last}, the last number`);
  }
  const late = await database.all<{ id: number; created_at: string }>(sql`
    select id, created_at from event where sequence is null and created_at < ${timestamp(now - waitingMaxMs)}
    order by id limit ${examplesMax}`);
  for (const { id, created_at } of late) {
    waiting.add(`event row ${id} of ${created_at}`);
  }
  return [gaps, above, waiting].flatMap((findings) => findings.found());
}

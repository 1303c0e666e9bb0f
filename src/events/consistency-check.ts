/** Checks the numbers of the event log. */
import { timestamp } from '../clock.ts';
import type { Sql } from '../database/database.ts';
import { type Finding, Findings } from '../database/findings.ts';
import { sql } from '../database/sql.ts';
import { eventLogQueries } from './log-queries.ts';

/** How long an event may wait for its number: a server numbers events every second. */
const waitingMaxMs = 60_000;
const examplesMax = 1000;

/** @param database a snapshot, because events are numbered meanwhile */
export async function checkEventLog(database: Sql, now: number): Promise<Finding[]> {
  const gaps = new Findings(
    'numbers that are missing in the event log, or above its last one',
    'restore a backup: clients that read the log have missed these events, or will get other ones',
  );
  const waiting = new Findings(
    'events that have waited for their number for more than a minute',
    'start a server: it numbers them. If one runs, its log says why it cannot',
  );
  const { first = 1, last = 0 } = (await eventLogQueries(database).findLog()) ?? {};
  // Numbers are unique: where as many are there as there should be, none is missing.
  const { numbered = 0 } =
    (await database.get<{ numbered: number }>(sql`
      select count(*) as numbered from event where sequence >= ${first} and sequence <= ${last} and sequence > 0`)) ??
    {};
  const rows =
    numbered === last - first + 1
      ? []
      : await database.all<{ sequence: number }>(sql`
          select e.sequence + 1 as sequence from event e
          where e.sequence >= ${first} and e.sequence < ${last} and e.sequence > 0
            and not exists (select 1 from event n where n.sequence = e.sequence + 1 and n.sequence > 0)
          order by e.sequence limit ${examplesMax}`);
  for (const { sequence } of rows) {
    gaps.add(`${sequence} is missing`);
  }
  const ends = await database.get<{ lowest: number | null; highest: number | null }>(sql`
    select min(sequence) as lowest, max(sequence) as highest from event where sequence >= ${first} and sequence > 0`);
  if (last >= first && ends?.lowest !== first) {
    gaps.add(`${first}, where the log begins, is missing`);
  }
  if ((ends?.highest ?? last) > last) {
    gaps.add(`${ends?.highest} is above ${last}, the last number`);
  }
  const late = await database.all<{ id: number; created_at: string }>(sql`
    select id, created_at from event where sequence is null and created_at < ${timestamp(now - waitingMaxMs)}
    order by id limit ${examplesMax}`);
  for (const { id, created_at } of late) {
    waiting.add(`event row ${id} of ${created_at}`);
  }
  return [gaps, waiting].flatMap((findings) => findings.found());
}

/**
 * The numbers of events on PostgreSQL, with three instances that number, writers that wait and roll back, and a reader.
 * The same run with one of the rules broken on purpose must show what that rule prevents.
 */
import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/clock.ts';
import type { Database, Sql } from '../../src/database/database.ts';
import { openPostgres } from '../../src/database/postgres/postgres.ts';
import { rawSql, sql } from '../../src/database/sql.ts';
import { Numbering } from '../../src/event-log/numbering.ts';
import { Loops } from '../../src/jobs/loops.ts';
import { cleanUp, createDatabase, until } from '../context.ts';

const instances = 3;
const writers = 14;
const changesOfAWriter = 40;
const subjects = 25;
/** How long events may stay without a number before they count as lost. */
const patienceMs = 2500;

type Violation = 'gap' | 'lost' | 'subject order' | 'causality';

/** One committed change, with logical times of its request and of its response. */
interface Change {
  readonly subject: number;
  readonly version: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

interface Rules {
  /** Text of the function number_events to replace. */
  readonly replace?: readonly (readonly [text: string, by: string])[];
  /** More statements to prepare the database with. */
  readonly prepare?: readonly string[];
  /** Whether a writer draws the id of its event before it locks the subject. */
  readonly isEventFirst?: boolean;
}

async function prepare(database: Database, { replace = [], prepare = [] }: Rules): Promise<void> {
  const run = (text: string) => database.run(sql`${rawSql(text)}`);
  await run('create table subject (id bigint primary key, version bigint not null)');
  await run(`insert into subject select id, 0 from generate_series(1, ${subjects}) as id`);
  for (const statement of prepare) {
    await run(statement);
  }
  const row = await database.get<{ source: string }>(
    sql`select pg_get_functiondef('number_events'::regproc) as source`,
  );
  let source = row?.source ?? '';
  for (const [text, by] of replace) {
    assert.ok(source.includes(text), text);
    source = source.replace(text, by);
  }
  await run(source);
}

async function writeChange(tx: Sql, subject: number, isEventFirst: boolean): Promise<number> {
  const lock = () =>
    tx.get<{ version: number }>(
      sql`update subject set version = version + 1 where id = ${subject} returning version`,
    );
  const insert = () =>
    tx.get<{ id: number }>(sql`
      insert into event (type, subject, actor, data, created_at)
      values ('cheese.updated', ${`cheese:${subject}`}, 'test', '', '') returning id`);
  const pause = async () => {
    if (Math.random() < 0.2) {
      await tx.get(sql`select pg_sleep(${Math.random() * 0.03}::float8)`);
    }
  };
  const early = isEventFirst ? await insert() : undefined;
  if (isEventFirst) {
    await pause();
  }
  const version = (await lock())?.version ?? 0;
  await pause();
  const event = early ?? (await insert());
  await tx.run(sql`update event set data = ${`${subject}:${version}`} where id = ${event?.id ?? 0}`);
  await pause();
  if (Math.random() < 0.1) {
    throw new Error('rolled back on purpose');
  }
  return version;
}

/** Writes, numbers and reads at the same time; returns what went wrong. */
async function violations(t: TestContext, rules: Rules): Promise<Set<Violation>> {
  const url = await createDatabase(t, 'template_curd');
  const databases = Array.from({ length: instances }, () => openPostgres(url));
  for (const database of databases) {
    cleanUp(t, () => database.close());
  }
  const [first] = databases as [Database];
  await prepare(first, rules);
  const log = { error: () => {} };
  const loops = new Loops(systemClock);
  const numberings = databases.map((database) => new Numbering({ database, clock: systemClock, log, loops }));
  for (const numbering of numberings) {
    await numbering.start();
    cleanUp(t, () => numbering.stop());
  }

  const found = new Set<Violation>();
  const changes = new Map<string, Change>();
  const read: string[] = [];
  let time = 0;
  let isReading = true;

  async function write(writer: number): Promise<void> {
    const database = databases[writer % instances] as Database;
    for (let count = 0; count < changesOfAWriter; count += 1) {
      const subject = 1 + Math.floor(Math.random() * subjects);
      time += 1;
      const startedAt = time;
      try {
        const version = await database.transaction((tx) =>
          writeChange(tx, subject, rules.isEventFirst === true),
        );
        time += 1;
        changes.set(`${subject}:${version}`, { subject, version, startedAt, endedAt: time });
      } catch {
        // Rolled back: none of it may be in the log.
      }
    }
  }

  async function readOn(): Promise<void> {
    const rows = await first.all<{ sequence: number; data: string }>(
      sql`select sequence, data from event where sequence > ${read.length} order by sequence`,
    );
    for (const { sequence, data } of rows) {
      if (sequence !== read.length + 1) {
        found.add('gap');
      }
      read.push(data);
    }
  }

  const reading = (async () => {
    while (isReading) {
      await readOn();
      await sleep(1);
    }
  })();
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  await until(async () => read.length >= changes.size, 'events are lost', patienceMs).catch(() =>
    found.add('lost'),
  );
  isReading = false;
  await reading;
  if (new Set(read).size !== changes.size || read.some((data) => !changes.has(data))) {
    found.add('lost');
  }

  const versions = new Map<number, number>();
  let earliestEnd = Number.POSITIVE_INFINITY;
  for (const data of read.toReversed()) {
    const change = changes.get(data);
    if (change !== undefined) {
      if (change.version > (versions.get(change.subject) ?? Number.POSITIVE_INFINITY)) {
        found.add('subject order');
      }
      versions.set(change.subject, change.version);
      // A later event whose response was sent before the request of this one arrived.
      if (earliestEnd < change.startedAt) {
        found.add('causality');
      }
      earliestEnd = Math.min(earliestEnd, change.endedAt);
    }
  }
  return found;
}

/** Rules broken on purpose are found in one of a few runs: what they break is a race. */
async function assertFound(t: TestContext, rules: Rules, ...expected: Violation[]): Promise<void> {
  let found = new Set<Violation>();
  for (let attempt = 0; attempt < 4 && !expected.some((one) => found.has(one)); attempt += 1) {
    found = await violations(t, rules);
  }
  assert.ok(
    expected.some((one) => found.has(one)),
    `${[...found]}`,
  );
}

suite('The numbers of events', { concurrency: 2 }, () => {
  test('The numbers of events rise by one, lose nothing, and keep the order of each subject and of cause and effect', async (t) => {
    assert.deepEqual([...(await violations(t, {}))], []);
  });

  test('The numbers of events have gaps for a reader where passes do not exclude each other', async (t) => {
    await assertFound(
      t,
      {
        prepare: ['create sequence unlocked'],
        replace: [
          ['for update skip locked', ''],
          ['sequence = log.last + place', "sequence = nextval('unlocked')"],
          ['call_again := numbered = max_events;', 'call_again := false; perform pg_sleep(random() * 0.03);'],
          ['abs(extract(epoch from clock_timestamp()) * 1000 - passed_ms) < 10', 'false'],
          [
            'where event.id = placed.id returning',
            'where event.id = placed.id and sequence is null returning',
          ],
          ['numbered < chosen', 'false'],
        ],
      },
      'gap',
    );
  });

  test('The numbers of events are given twice where the last number is read without a lock', async (t) => {
    await assertFound(
      t,
      {
        prepare: ['drop index event_sequence'],
        replace: [
          ['for update skip locked', ''],
          ['abs(extract(epoch from clock_timestamp()) * 1000 - passed_ms) < 10', 'false'],
          ['numbered < chosen', 'false'],
        ],
      },
      'gap',
      'lost',
    );
  });

  test('The numbers of events lose events where a pass takes those newer than the last instead of those without a number', async (t) => {
    await assertFound(
      t,
      {
        replace: [
          [
            'where sequence is null and id > lowest order by id',
            'where sequence is null and id > (select coalesce(max(id), 0) from event where sequence > 0) order by id',
          ],
        ],
      },
      'lost',
    );
  });

  test('The numbers of events break the order of a subject where a change writes its event before it locks the subject', async (t) => {
    await assertFound(t, { isEventFirst: true }, 'subject order');
  });

  test('The numbers of events break the order of cause and effect where a pass does not take the lowest ids first', async (t) => {
    await assertFound(
      t,
      { replace: [['row_number() over (order by id)', 'row_number() over (order by random())']] },
      'causality',
      'subject order',
    );
  });
});

/** Passes on PostgreSQL where something is unusual: a transaction that stays open, a deleted event, another database. */
import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import type { Database } from '../../src/database/database.ts';
import { openPostgres } from '../../src/database/postgres/postgres.ts';
import { sql } from '../../src/database/sql.ts';
import { Numbering } from '../../src/event-log/numbering.ts';
import { EventHub } from '../../src/event-log/reading/hub.ts';
import { Loops } from '../../src/jobs/loops.ts';
import { cleanUp, createDatabase, until } from '../context.ts';

interface Numbered {
  readonly database: Database;
  readonly numbering: Numbering;
  /** Messages of failed passes. */
  readonly errors: string[];
}

async function openNumbered(t: TestContext, floorMs?: number): Promise<Numbered> {
  const database = openPostgres(await createDatabase(t, 'template_curd'));
  cleanUp(t, () => database.close());
  const errors: string[] = [];
  const log = { error: ({ err }: { err: Error }) => errors.push(String(err.cause ?? err)) };
  const numbering = new Numbering({
    database,
    clock: systemClock,
    log: log as never,
    loops: new Loops(systemClock),
    ...(floorMs === undefined ? {} : { floorMs }),
  });
  cleanUp(t, () => numbering.stop());
  return { database, numbering, errors };
}

const insertEvent = (subject: string) => sql`
  insert into event (type, subject, actor, data, created_at)
  values ('order.placed', ${subject}, 'test', '{}', '2026-01-01T00:00:00.000Z')`;

async function subjects(database: Database): Promise<string[]> {
  const rows = await database.all<{ sequence: number; subject: string }>(
    sql`select sequence, subject from event where sequence > 0 order by sequence`,
  );
  assert.deepEqual(
    rows.map(({ sequence }) => sequence),
    rows.map((_, index) => index + 1),
  );
  return rows.map(({ subject }) => subject);
}

suite('A pass', () => {
  test('A numbering pass numbers others while a transaction with an event stays open, and that event next', async (t) => {
    const { database, numbering } = await openNumbered(t);
    await numbering.start();
    await database.transaction(async (tx) => {
      await tx.run(insertEvent('order:late'));
      for (let count = 0; count < 100; count += 1) {
        await database.run(insertEvent(`order:${count}`));
      }
      await until(async () => (await subjects(database)).length === 100, 'others wait for it');
      assert.ok(!(await subjects(database)).includes('order:late'));
    });
    await until(async () => (await subjects(database)).at(-1) === 'order:late', 'the late event is lost');
    assert.equal((await subjects(database)).length, 101);
  });

  test('A numbering pass whose event is deleted meanwhile is rolled back, and the next one leaves no gap', async (t) => {
    const { database, numbering, errors } = await openNumbered(t);
    await numbering.run();
    for (const subject of ['order:1', 'order:2', 'order:3']) {
      await database.run(insertEvent(subject));
    }
    const passed = await database.transaction(async (tx) => {
      await tx.run(sql`delete from event where subject = 'order:2'`);
      const pass = numbering.run();
      await until(async () => {
        const row = await database.get<{ waiting: number }>(
          sql`select count(*) as waiting from pg_locks l join pg_stat_activity a on a.pid = l.pid
            where not l.granted and a.datname = current_database()`,
        );
        return (row?.waiting ?? 0) > 0;
      }, 'the pass does not wait for the row');
      return { pass };
    });
    await passed.pass;
    assert.match(errors.join(), /an event was deleted while it was numbered/);
    assert.deepEqual(await subjects(database), []);
    await numbering.run();
    assert.deepEqual(await subjects(database), ['order:1', 'order:3']);
  });

  test('A numbering pass numbers nothing in another database until an epoch has begun', async (t) => {
    const { database, numbering } = await openNumbered(t);
    await numbering.run();
    await database.run(insertEvent('order:1'));
    await numbering.run();
    const epochs = () =>
      database.all<{ name: string; first_sequence: number; cause: string }>(
        sql`select name, first_sequence, cause from event_epoch order by first_sequence, began_at`,
      );
    const before = (await epochs()).length;
    await database.run(insertEvent('order:2'));
    await database.run(sql`update event_log set identity = 'another', passed_ms = 0`);
    const row = await database.get<{ numbered: number; is_new_identity: boolean }>(
      sql`select numbered, is_new_identity from number_events(1000, true)`,
    );
    assert.deepEqual([row?.numbered, row?.is_new_identity], [0, true]);
    assert.deepEqual(await subjects(database), ['order:1']);
    await numbering.run();
    assert.deepEqual(await subjects(database), ['order:1', 'order:2']);
    const begun = (await epochs()).slice(before);
    assert.deepEqual(
      begun.map(({ first_sequence, cause }) => [first_sequence, cause]),
      [[2, 'restored']],
    );
  });

  test('A numbering pass ignores the floor from time to time, so that a floor that is too high loses no event', async (t) => {
    const { database, numbering } = await openNumbered(t, 300);
    await numbering.start();
    await database.run(sql`update event_log set floor_id = 1000000000`);
    const startedAt = performance.now();
    for (const subject of ['order:1', 'order:2']) {
      await database.run(insertEvent(subject));
    }
    await until(async () => (await subjects(database)).length === 2, 'events are lost');
    // The first pass of this instance was before: the events waited for one that ignores the floor.
    assert.ok(performance.now() - startedAt > 100);
  });
});

test('A connection that listens is opened again after it was lost', async (t) => {
  const database = openPostgres(await createDatabase(t, 'template_curd'));
  cleanUp(t, () => database.close());
  let messages = 0;
  const stop = await database.listen('curd_events', () => {
    messages += 1;
  });
  const listening = () =>
    database.all<{ pid: number }>(sql`
      select pid from pg_stat_activity where datname = current_database() and query like 'listen%'`);
  const [before] = await listening();
  assert.ok(before !== undefined, 'it has no connection of its own');
  await database.get(sql`select pg_terminate_backend(${before.pid}::integer)`);
  await until(async () => (await listening()).some(({ pid }) => pid !== before.pid), 'it does not listen');
  const heard = messages;
  await until(async () => {
    await database.get(sql`select pg_notify('curd_events', '')`);
    return messages > heard;
  }, 'notifications do not arrive');
  await stop();
  await until(async () => (await listening()).length === 0, 'the connection stays open');
});

test('Where notifications do not arrive, as behind a pooler, events come all the same, with one warning', async (t) => {
  const { database, numbering } = await openNumbered(t);
  await numbering.start();
  const warnings: string[] = [];
  // A pooler in transaction mode accepts LISTEN and sends nothing.
  const log = { warn: (text: string) => warnings.push(text) } as never;
  const hub = new EventHub({ ...database, listen: async () => async () => {} }, log, new Loops(systemClock));
  cleanUp(t, () => hub.stop());
  const waiting = hub.wait(0, 20_000);
  await until(async () => warnings.length > 0, 'there is no warning');
  assert.match(warnings.join(), /pooler/);
  await database.run(insertEvent('order:1'));
  assert.equal(await waiting, true);
  assert.deepEqual(
    hub.tailAfter(0)?.events.map(({ subject }) => subject),
    ['order:1'],
  );
  assert.equal(warnings.length, 1);
});

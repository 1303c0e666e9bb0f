/** What goes wrong with connections to PostgreSQL: they are lost, kept in a transaction, refused, or used up by slow reads. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/database/database.ts';
import { ConnectionPool } from '../../src/database/postgres/pool.ts';
import { openPostgres } from '../../src/database/postgres/postgres.ts';
import { isUnconnected } from '../../src/database/postgres/postgres-errors.ts';
import { serversIn } from '../../src/database/postgres/url.ts';
import { rawSql, sql } from '../../src/database/sql.ts';
import { AppError, mayHaveBeenMade } from '../../src/errors.ts';
import { ConfigError } from '../../src/settings/parsers.ts';
import { cleanUp, createDatabase, postgresUrl, until } from '../context.ts';
import { filesIn, read } from '../gates/sources.ts';
import { onConnection, queryPostgres } from '../postgres-client.ts';

const others = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
const terminate = `select pg_terminate_backend(pid) ${others}`;

/** A database with a table `note`, and its URL. */
async function open(t: TestContext, parameters = '') {
  const url = await createDatabase(t);
  await queryPostgres(url, 'create table note (id bigint primary key, text text)');
  const database = openPostgres(`${url}${parameters}`);
  cleanUp(t, () => database.close());
  return { url, database };
}

/** Terminates all connections, and lets this process notice it, in a later turn of the event loop. */
async function terminateAll(url: string): Promise<void> {
  await queryPostgres(url, terminate);
  await until(async () => (await queryPostgres(url, `select 1 ${others}`)).length === 0);
  await sleep(20);
}

const ping = (database: Database) => database.get(sql`select 1 as one`);
const note = (id: number) => sql`insert into note (id, text) values (${id}, 'a')`;

function isUnavailable(message: string) {
  return (error: unknown) =>
    error instanceof AppError && error.code === 'unavailable' && error.message.includes(message);
}

suite('A connection to PostgreSQL that is terminated', () => {
  test('A terminated connection to PostgreSQL while it is idle is replaced before the next statement', async (t) => {
    const { url, database } = await open(t, '?max=2');
    for (let round = 0; round < 5; round += 1) {
      await ping(database);
      await terminateAll(url);
      await ping(database);
    }
  });

  test('A terminated connection to PostgreSQL ends a transaction between two statements, which may have been committed', async (t) => {
    const { url, database } = await open(t, '?max=1');
    const work = database.transaction(async (tx) => {
      await tx.run(note(1));
      await queryPostgres(url, terminate);
      await sleep(20);
      await tx.run(note(2));
    });
    await assert.rejects(work, isUnavailable(mayHaveBeenMade));
    assert.deepEqual(await database.all(sql`select id from note`), []);
  });

  test('A terminated connection to PostgreSQL while statements run rejects all of them as lost', async (t) => {
    const { url, database } = await open(t, '?max=3');
    const work = database.transaction((tx) =>
      Promise.all([tx.all(rawSql('select pg_sleep(20)')), tx.all(sql`select 1`), tx.all(sql`select 2`)]),
    );
    const reads = [0, 1].map(() => database.all(rawSql('select pg_sleep(20)')));
    const outcomes = Promise.allSettled([work, ...reads]);
    await until(
      async () => (await queryPostgres(url, `select 1 ${others} and state = 'active'`)).length === 3,
    );
    await queryPostgres(url, terminate);
    for (const outcome of await outcomes) {
      assert.ok(
        outcome.status === 'rejected' && isUnavailable(mayHaveBeenMade)(outcome.reason),
        String(outcome),
      );
    }
    await database.run(note(3));
  });
});

suite('A pool of connections to PostgreSQL', () => {
  async function openPool(t: TestContext, max: number) {
    const url = await createDatabase(t);
    const [server] = serversIn(url);
    assert.ok(server !== undefined);
    const pool = new ConnectionPool(server, max, max);
    cleanUp(t, () => pool.end(0));
    return { url, pool };
  }

  test('A pool of connections to PostgreSQL closes a connection that comes back within a transaction', async (t) => {
    const { url, pool } = await openPool(t, 1);
    const pidOf = async () =>
      (await pool.query('select pg_backend_pid() as pid', [], undefined, false)).rows[0].pid;
    for (const leave of [
      async () => {},
      async () => {
        throw new Error('left');
      },
    ]) {
      const before = await pidOf();
      await pool
        .during(async (connection) => {
          await connection.query('begin');
          await leave();
        })
        .catch(() => {});
      assert.notEqual(await pidOf(), before);
      const status = await pool.query(
        'select pg_current_xact_id_if_assigned() as id, now() = statement_timestamp() as alone',
        [],
        undefined,
        false,
      );
      assert.deepEqual(status.rows, [{ id: null, alone: true }]);
    }
    const idle = await queryPostgres(url, `select 1 ${others} and state like 'idle in transaction%'`);
    assert.deepEqual(idle, []);
  });

  test('A pool of connections to PostgreSQL that ends refuses those that wait as unconnected, and lets the others end', async (t) => {
    const { pool } = await openPool(t, 1);
    await pool.query('select 1', [], undefined, false);
    const running = pool.query('select pg_sleep(0.3), 7 as seven', [], undefined, false);
    const waiting = [
      pool.query('select 1', [], undefined, false),
      pool.query('select 1', [], undefined, true),
      pool.during((connection) => connection.query('select 1')),
    ];
    await sleep(50);
    const ended = pool.end(5);
    for (const one of await Promise.allSettled(waiting)) {
      assert.ok(one.status === 'rejected' && isUnconnected(one.reason), String(one));
    }
    assert.equal((await running).rows[0].seven, 7);
    await ended;
    await assert.rejects(pool.query('select 1', [], undefined, false), isUnconnected);
  });

  test('A pool of connections to PostgreSQL that ends destroys what runs too long', async (t) => {
    const { pool } = await openPool(t, 2);
    await Promise.all([0, 1].map(() => pool.query('select pg_sleep(0.1)', [], undefined, false)));
    const running = [
      pool.query('select pg_sleep(20)', [], undefined, false),
      pool.during(async (connection) => {
        await connection.query('begin');
        await connection.query('select pg_sleep(20)');
      }),
    ];
    const outcomes = Promise.allSettled(running);
    await sleep(100);
    const startedAt = performance.now();
    await pool.end(0.2);
    assert.ok(performance.now() - startedAt < 5000);
    assert.deepEqual(
      (await outcomes).map((outcome) => outcome.status === 'rejected' && outcome.reason.code),
      ['CONNECTION_LOST', 'CONNECTION_LOST'],
    );
  });

  test('A pool of connections to PostgreSQL works with the connections that the server permits', async (t) => {
    const url = new URL(await createDatabase(t));
    const role = `few_${url.pathname.slice(-8)}`;
    await queryPostgres(
      `${postgresUrl}/postgres`,
      `create role ${role} login password 'few' connection limit 2`,
    );
    cleanUp(t, () => queryPostgres(`${postgresUrl}/postgres`, `drop role ${role}`));
    url.username = role;
    url.password = 'few';
    const database = openPostgres(url.href);
    const reads = Array.from({ length: 20 }, (_, index) =>
      database.get<{ index: number }>(sql`select pg_sleep(0.05), cast(${index} as integer) as index`),
    );
    // The first attempts are made at once, before any connection is open.
    const outcomes = await Promise.allSettled(reads);
    const served = outcomes.filter(({ status }) => status === 'fulfilled').length;
    const later = await Promise.all(Array.from({ length: 20 }, () => ping(database)));
    await database.close();
    assert.ok(served >= 18, `${served} of 20`);
    assert.equal(later.length, 20);
  });
});

suite('A prepared statement', () => {
  test('A prepared statement is prepared again after a migration changed the types of its columns', async (t) => {
    const { url, database } = await open(t, '?max=2');
    await database.run(note(1));
    const all = () => database.all(sql`select * from note`);
    const inTransaction = () =>
      database.transaction(async (tx) => {
        await tx.run(sql`update note set text = 'b'`);
        return tx.all(sql`select * from note`);
      });
    const both = async () => [...(await all()), ...(await inTransaction())];
    assert.equal((await both()).length, 2);
    await queryPostgres(url, `alter table note add column number bigint default 7`);
    assert.deepEqual(await both(), [
      { id: 1, text: 'b', number: 7 },
      { id: 1, text: 'b', number: 7 },
    ]);
    await queryPostgres(url, `alter table note alter column number type text`);
    assert.deepEqual((await both())[1], { id: 1, text: 'b', number: '7' });
  });

  test('A prepared statement that was refused once is prepared again, and those after it with its name run again', async (t) => {
    const { url, database } = await open(t, '?max=1');
    const count = () => database.get<{ notes: number }>(sql`select count(*) as notes from note`);
    for (let run = 0; run < 3; run += 1) {
      await count();
    }
    // The next connection prepares it while the table is locked, which fails after the time limit for locks.
    await terminateAll(url);
    await ping(database);
    await onConnection(url, async (query) => {
      await query('begin');
      await query('lock table note in access exclusive mode');
      const first = [count(), count(), count()].map((one) => one.catch((error) => error));
      const unlock = sleep(2700).then(() => query('commit'));
      const [refused, ...rest] = await Promise.all(first);
      await unlock;
      assert.ok(isUnavailable('Other changes are in progress')(refused), String(refused));
      assert.deepEqual(rest, [{ notes: 0 }, { notes: 0 }]);
    });
    assert.deepEqual(await count(), { notes: 0 });
  });

  test('A prepared statement in a transaction that failed rejects with the error of the statement that failed first', async (t) => {
    const { database } = await open(t);
    await database.run(note(1));
    for (let run = 0; run < 2; run += 1) {
      const work = database.transaction(async (tx) => {
        const again = sql`insert into note (id, text) values (${1}, ${'again'})`;
        await tx.send(again);
        await Promise.all([tx.run(again), tx.run(sql`select ${run} + 1`)]);
      });
      await assert.rejects(work, /unique constraint: note_pkey/);
    }
  });
});

suite('The commit', () => {
  test('The commit of a transaction is sent after statements that wait for something before they are sent', async (t) => {
    const { database } = await open(t);
    await database.transaction(async (tx) => {
      // Nothing awaits them. Both wait for `begin`, and the second for the types of the columns.
      void tx.send(note(1));
      void tx.sendInsert('note', ['id', 'text'], [[2, 'b']]);
    });
    await database.transaction(async (tx) => {
      void tx.insert('note', ['id', 'text'], [[3, 'c']]);
    });
    const rows = await database.all<{ id: number }>(sql`select id from note order by id`);
    assert.deepEqual(
      rows.map(({ id }) => id),
      [1, 2, 3],
    );
    const refused = database.transaction(async (tx) => {
      void tx.send(note(1));
    });
    await assert.rejects(refused, /unique constraint/);
  });
});

suite('The URL of PostgreSQL', () => {
  test('The URL of PostgreSQL replaces no time limit and no verification of a certificate', async (t) => {
    for (const parameter of [
      'statement_timeout=7',
      'ssl=0',
      'sslkey=file',
      'host=other',
      'query_timeout=1',
    ]) {
      assert.throws(
        () => openPostgres(`postgres://db/curd?sslmode=require&${parameter}`),
        (error) => error instanceof ConfigError && error.message.includes('is unknown: leave it out'),
        parameter,
      );
    }
    for (const max of ['0', '1001', 'many', '']) {
      const refusal = new RegExp(`parameter max of CURD_DATABASE is "${max}": .* from 1 to 1000`);
      assert.throws(() => openPostgres(`postgres://db/curd?max=${max}`), refusal);
    }
    const { database } = await open(t);
    const limits = await database.all(sql`select name, setting from pg_settings
      where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout') order by name`);
    assert.deepEqual(
      limits.map((row) => Object.values(row as object).join(' ')),
      ['idle_in_transaction_session_timeout 30000', 'lock_timeout 2500', 'statement_timeout 30000'],
    );
  });

  test('The URL of PostgreSQL may contain escapes in each part', () => {
    const [server, other] = serversIn(
      'postgres://us%40er:p%3Ass@%2Frun%2Fpostgresql,[::1]:5433/my%2Fdb?max=3',
    );
    assert.deepEqual(
      [server, other].map((one) => [one?.host, one?.port, one?.user, one?.password, one?.database]),
      [
        ['/run/postgresql', undefined, 'us@er', 'p:ss', 'my/db'],
        ['::1', 5433, 'us@er', 'p:ss', 'my/db'],
      ],
    );
    assert.throws(() => serversIn('postgres://user:100%@db/curd'), ConfigError);
  });
});

test('The driver is used as documented: no time limit of its own, and no private part', () => {
  for (const path of filesIn('src/database/postgres/*.ts')) {
    assert.doesNotMatch(read(path), /query_timeout|client\.connection|\._\w/, path);
  }
  const { dependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  assert.match(dependencies.pg, /^~/, 'pipelining is young: read the changes of each version first');
});

/** Guarantees of both engines about transactions, values and constraints, on a table only for tests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { ConstraintError, type Sql } from '../../src/database/database.ts';
import { openPostgres } from '../../src/database/postgres/postgres.ts';
import { forUpdate, rowsFromJson, sql, type Value, valueList } from '../../src/database/sql.ts';
import { cleanUp, createDatabase, onBothEngines, postgresUrl } from '../context.ts';
import { toOwnerUrl } from '../global-setup.ts';
import { insertNote, openNotes, textsIn } from './notes.ts';

onBothEngines('A database', (engine) => {
  test('A database commits waiting writes of a group together, and runs them again when a later one fails', async (t) => {
    const database = await openNotes(t, engine);
    let notes = 0;

    /** Writes notes at the same time. Returns the order in which they ran, and how many commits that took. */
    async function write(texts: readonly string[]): Promise<{ runs: string; commits: number }> {
      const runs: string[] = [];
      const kept = (await textsIn(database)).length;
      let commits = 0;
      const stop = database.onCommit(() => {
        commits += 1;
      });
      const outcomes = await Promise.allSettled(
        texts.map((text) =>
          database.transaction(async (tx) => {
            runs.push(text);
            await tx.run(insertNote(notes++, text));
            if (text === 'fail') {
              throw new Error('refused');
            }
          }, 0),
        ),
      );
      stop();
      for (const [index, text] of texts.entries()) {
        assert.equal(outcomes[index]?.status, text === 'fail' ? 'rejected' : 'fulfilled');
      }
      const written = (await textsIn(database)).slice(kept);
      assert.deepEqual(
        written,
        texts.filter((text) => text !== 'fail'),
      );
      return { runs: runs.join(' '), commits };
    }

    /** On a busy machine, writes can be in several groups. */
    async function eventually(texts: readonly string[], runs: string): Promise<void> {
      for (let attempt = 0; attempt < 100; attempt += 1) {
        const result = await write(texts);
        if (result.runs === runs && result.commits === 1) {
          return;
        }
      }
      assert.fail(`never: ${runs}`);
    }

    await eventually(['a', 'b', 'c'], 'a b c');
    await eventually(['fail', 'b', 'c'], 'fail b c');
    await eventually(['a', 'b', 'fail', 'd'], 'a b fail a b fail d');
    // For some groups, each write has a savepoint.
    await eventually(['a', 'b', 'fail', 'd'], 'a b fail d');
    await eventually(['a', 'b', 'fail', 'd'], 'a b fail a b fail d');
  });

  test('A database rolls back a transaction that throws, and throws the same error', async (t) => {
    const database = await openNotes(t, engine);
    const failure = new Error('no');
    const work = database.transaction(async (tx) => {
      await tx.run(insertNote(1, 'a'));
      assert.equal((await tx.all(sql`select * from note`)).length, 1);
      throw failure;
    });
    await assert.rejects(work, (error) => error === failure);
    assert.deepEqual(await textsIn(database), []);
  });

  test('A database isolates a failing write from concurrent ones', async (t) => {
    const database = await openNotes(t, engine);
    const writes = Array.from({ length: 60 }, (_, index) =>
      database.transaction(async (tx) => {
        await tx.run(insertNote(index, `note ${index}`));
        if (index % 3 === 0) {
          throw new Error(`refused ${index}`);
        }
        if (index % 3 === 1) {
          await tx.run(insertNote(index, 'again'));
        }
        return index;
      }),
    );
    const outcomes = await Promise.allSettled(writes);
    for (const [index, outcome] of outcomes.entries()) {
      assert.equal(outcome.status, index % 3 === 2 ? 'fulfilled' : 'rejected', String(index));
      if (outcome.status === 'fulfilled') {
        assert.equal(outcome.value, index);
      } else if (index % 3 === 0) {
        assert.equal(outcome.reason.message, `refused ${index}`);
      } else {
        assert.ok(outcome.reason instanceof ConstraintError);
      }
    }
    assert.deepEqual(
      await textsIn(database),
      Array.from({ length: 20 }, (_, index) => `note ${index * 3 + 2}`),
    );
  });

  test('A database loses no concurrent increment', async (t) => {
    const database = await openNotes(t, engine);
    await database.run(insertNote(1, 'counter', 0));
    const increments = Array.from({ length: 200 }, () =>
      database.transaction(async (tx) => {
        const row = await tx.get<{ number: number }>(sql`select number from note where id = 1${forUpdate}`);
        const next = (row?.number ?? Number.NaN) + 1;
        await tx.run(sql`update note set number = ${next} where id = 1`);
        return next;
      }),
    );
    await Promise.allSettled(increments);
    const seen = await Promise.all(increments);
    const row = await database.get<{ number: number }>(sql`select number from note`);
    assert.equal(row?.number, 200);
    assert.equal(new Set(seen).size, 200);
  });

  test('A database returns committed writes in every later read', async (t) => {
    const database = await openNotes(t, engine);
    for (let id = 0; id < 50; id += 1) {
      await database.transaction((tx) => tx.run(insertNote(id, `note ${id}`)));
      const row = await database.get<{ text: string }>(sql`select text from note where id = ${id}`);
      assert.equal(row?.text, `note ${id}`);
    }
  });

  test('A database hides uncommitted changes', async (t) => {
    const database = await openNotes(t, engine);
    let rowsSeenOutside = Number.NaN;
    await database.transaction(async (tx) => {
      await tx.run(insertNote(1, 'a'));
      rowsSeenOutside = (await textsIn(database)).length;
    });
    assert.equal(rowsSeenOutside, 0);
  });

  test('A database returns every value unchanged', async (t) => {
    const database = await openNotes(t, engine);
    const large = 'Époisses 🧀 '.repeat(100_000);
    const table: (readonly [text: Value, number: Value, fraction: Value])[] = [
      ['', 0, 0.1],
      ['it\'s "quoted" \\ %_ {x} $1 ? -- /* */ \'; drop table note; --', -1, -0.5],
      ['Époisses, E\u0301poisses, 한국, עברית, 🧀👩‍🌾', 2 ** 53 - 1, Number.MAX_VALUE],
      ['\t\r\n\u0001\uFFFD\uFEFF', -(2 ** 53 - 1), 5e-324],
      ['null', 42, 1e21],
      [large, 7, 0.1 + 0.2],
      [null, null, null],
    ];
    for (const [id, [text, number, fraction]] of table.entries()) {
      await database.run(
        sql`insert into note (id, text, number, fraction) values (${id}, ${text}, ${number}, ${fraction})`,
      );
    }
    const read = async () =>
      (
        await database.all<{ text: Value; number: Value; fraction: Value }>(
          sql`select text, number, fraction from note order by id`,
        )
      ).map(({ text, number, fraction }) => [text, number, fraction]);
    assert.deepEqual(await read(), table);

    assert.equal(await database.run(sql`delete from note`), table.length);
    await database.insert(
      'note',
      ['id', 'text', 'number', 'fraction'],
      table.map((row, id) => [id, ...row]),
    );
    assert.deepEqual(await read(), table);
    await database.insert('note', ['id', 'text'], []);
  });

  test('A database returns any text unchanged, through parameters and through rows', async (t) => {
    const database = await openNotes(t, engine);
    // PostgreSQL stores no U+0000, and lone surrogates are not text.
    const unit = fc
      .integer({ min: 1, max: 0x10ffff - 0x800 })
      .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit })), async (texts) => {
        const row = await database.get<{ one: string; other: string | null }>(
          sql`select cast(${texts[0] ?? ''} as text) as one,
            (select max(value->>'text') from ${rowsFromJson(texts.map((text, index) => ({ index: String(index), text })))} where value->>'index' = '0') as other`,
        );
        assert.equal(row?.one, texts[0] ?? '');
        assert.equal(row?.other, texts[0] ?? null);
      }),
    );
  });

  test('A database returns the number of changed rows, and undefined for a missing row', async (t) => {
    const database = await openNotes(t, engine);
    await database.insert(
      'note',
      ['id', 'text'],
      [
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
      ],
    );
    assert.equal(
      await database.run(sql`update note set number = 1 where id in (${valueList([1, 2, 9])})`),
      2,
    );
    assert.equal(await database.run(sql`delete from note where id = 9`), 0);
    assert.equal(await database.get(sql`select * from note where id = 9`), undefined);
    assert.equal((await database.all(sql`select * from note where id = 9`)).length, 0);
  });

  test('A database throws ConstraintError when a unique index refuses, and keeps nothing of the statement', async (t) => {
    const database = await openNotes(t, engine);
    await database.run(insertNote(1, 'a'));
    const pair = [
      [2, 'b'],
      [1, 'c'],
    ] as const;
    const attempts = [
      () => database.run(insertNote(1, 'b')),
      () => database.transaction((tx) => tx.run(insertNote(1, 'b'))),
      () => database.insert('note', ['id', 'text'], pair),
      () => database.run(sql`insert into note (id) select 3 union all select 1`),
    ];
    for (const attempt of attempts) {
      await assert.rejects(attempt, (error) => {
        assert.ok(error instanceof ConstraintError);
        assert.match(error.constraint, /note.id/);
        return true;
      });
    }
    assert.deepEqual(await textsIn(database), ['a']);
  });

  test('A database ends a transaction with the error of a statement that was sent, and keeps nothing', async (t) => {
    const database = await openNotes(t, engine);
    await database.run(insertNote(1, 'a'));
    const attempts: ((tx: Sql) => Promise<unknown>)[] = [
      // Found at the commit.
      async (tx) => {
        await tx.run(insertNote(2, 'b'));
        await tx.send(insertNote(1, 'again'));
      },
      async (tx) => {
        await tx.run(insertNote(2, 'b'));
        await Promise.all([
          tx.send(insertNote(3, 'c')),
          tx.sendInsert('note', ['id', 'text'], [[1, 'again']]),
        ]);
        await tx.send(insertNote(4, 'd'));
      },
      // As the first statement, which is sent with the beginning.
      (tx) => tx.send(insertNote(1, 'again')),
      // Found by the next statement, or when the work fails for another reason.
      async (tx) => {
        await tx.send(insertNote(1, 'again'));
        await tx.all(sql`select * from note`);
      },
      async (tx) => {
        await tx.send(insertNote(1, 'again'));
        throw new Error('later');
      },
    ];
    for (const [index, attempt] of attempts.entries()) {
      await assert.rejects(
        database.transaction(attempt),
        (error) => error instanceof ConstraintError && /note.id/.test(error.constraint),
        `attempt ${index}`,
      );
    }
    assert.deepEqual(await textsIn(database), ['a']);
    await database.transaction(async (tx) => {
      await tx.send(insertNote(2, 'b'));
      // Sent before, so it is seen; and more statements than may have no result.
      assert.equal((await tx.all(sql`select * from note`)).length, 2);
      for (let id = 3; id < 40; id += 1) {
        await tx.send(insertNote(id, 'many'));
      }
    });
    assert.equal((await textsIn(database)).length, 39);
    await database.send(sql`delete from note where id > 1`);
    await database.sendInsert('note', ['id', 'text'], [[2, 'alone']]);
    assert.deepEqual((await textsIn(database)).toSorted(), ['a', 'alone']);
  });

  test('A database refuses a statement that is sent after the end of its transaction', async (t) => {
    if (engine === 'sqlite') {
      return;
    }
    const database = await openNotes(t, engine);
    const late = await database.transaction(async (tx) => tx);
    await assert.rejects(late.run(insertNote(1, 'late')), /after the end/);
    assert.deepEqual(await textsIn(database), []);
  });
});

test('PostgreSQL with ?prepare=false gets no named statement, which a pooler could not find again', async (t) => {
  const { pathname } = new URL(await createDatabase(t, 'template_curd'));
  for (const [parameters, expected] of [
    ['?max=1', true],
    ['?max=1&prepare=false', false],
  ] as const) {
    const database = openPostgres(`${toOwnerUrl(postgresUrl ?? '')}${pathname}${parameters}`);
    cleanUp(t, () => database.close());
    await database.all(sql`select id from cheese where id = ${1}`);
    await database.transaction(async (tx) => {
      await tx.insert('term', ['kind', 'name', 'name_key'], [['tag', parameters, parameters]]);
    });
    const named = await database.all(
      sql`select name from pg_prepared_statements where statement like ${'%cheese where id%'}`,
    );
    assert.equal(named.length > 0, expected, parameters);
    const all = await database.all(sql`select name from pg_prepared_statements`);
    assert.equal(all.length > 0, expected, parameters);
  }
  assert.throws(() => openPostgres('postgres://db/curd?prepare=no'), /prepare of CURD_DATABASE is "no"/);
});

test('PostgreSQL reserves a connection for a transaction, however many statements are under way on it', async (t) => {
  const database = openPostgres(`${await createDatabase(t)}?max=2`);
  cleanUp(t, () => database.close());
  await Promise.all([1, 2].map(() => database.all(sql`select pg_sleep(0.05)`)));
  // The driver sends 100 statements on a connection before it looks for another one.
  for (let reads = 199; reads < 203; reads += 1) {
    const results = Array.from({ length: reads }, () => database.all(sql`select 1`));
    // Then all of them are sent.
    await nextTurn();
    await database.transaction((tx) => tx.get(sql`select 1`));
    await Promise.all(results);
  }
  assert.equal((await idleInTransaction(database)).length, 0);
});

function idleInTransaction(database: Sql): Promise<unknown[]> {
  return database.all(sql`
    select pid from pg_stat_activity where datname = current_database() and state like ${'idle in transaction%'}`);
}

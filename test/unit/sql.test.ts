/** SQL statements rendered for either engine, with every value bound. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  type Engine,
  forUpdate,
  join,
  joinAnd,
  rowsFromJson,
  type Statement,
  sql,
  type Value,
  valueList,
} from '../../src/database/sql.ts';

const values: fc.Arbitrary<Value> = fc.oneof(
  fc.string(),
  fc.constantFrom("'; drop table cheese; --", '?', '$1', '{x}'),
  fc.integer(),
  fc.constant(null),
);

/** Statements of every kind that the module creates, nested at random. */
const { statement: statements } = fc.letrec<{ statement: Statement }>((tie) => ({
  statement: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constant(sql`select 1`),
    values.map((value) => sql`a = ${value}`),
    fc.tuple(values, values).map(([a, b]) => sql`${a} between ${b} and ${a}`),
    fc.array(values, { maxLength: 4 }).map((some) => sql`a in (${valueList(some)})`),
    fc
      .array(fc.dictionary(fc.string(), values, { maxKeys: 3 }), { maxLength: 3 })
      .map((table) => sql`from ${rowsFromJson(table)}`),
    fc.constant(forUpdate),
    tie('statement').map((one) => sql`(${one})`),
    fc.tuple(tie('statement'), values).map(([one, value]) => sql`${one} and b = ${value}`),
    fc.tuple(values, tie('statement'), tie('statement')).map(([v, a, b]) => sql`x ${a} y ${v} z ${b}`),
    fc.array(tie('statement'), { maxLength: 3 }).map((some) => join(some, ' or ')),
    fc.array(tie('statement'), { maxLength: 3 }).map(joinAnd),
  ),
}));

/** One text for both engines, whose placeholders differ. */
function neutral(statement: Statement, engine: Engine): { text: string; values: Value[] } {
  const { text, values: bound } = statement.render(engine);
  return { text: text.replace(/\$\d+/g, '?'), values: bound };
}

suite('A statement', () => {
  test('An SQL statement has as many placeholders as values, numbered in order on PostgreSQL', () => {
    fc.assert(
      fc.property(statements, (statement) => {
        const sqlite = statement.render('sqlite');
        assert.equal(sqlite.text.match(/\?/g)?.length ?? 0, sqlite.values.length);
        const postgres = statement.render('postgres');
        const numbers = [...postgres.text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));
        assert.deepEqual(
          numbers,
          postgres.values.map((_, index) => index + 1),
        );
      }),
      { numRuns: 500 },
    );
  });

  test('An SQL statement binds the same values in the same order on both engines', () => {
    fc.assert(
      fc.property(statements, (statement) =>
        assert.deepEqual(statement.render('sqlite').values, statement.render('postgres').values),
      ),
      { numRuns: 500 },
    );
  });

  test('An SQL statement renders the same text again after other statements were rendered', () => {
    fc.assert(
      fc.property(statements, statements, (one, other) => {
        const first = one.render('postgres');
        other.render('postgres');
        other.render('sqlite');
        assert.deepEqual(one.render('postgres'), first);
        assert.deepEqual(sql`${one}`.render('postgres'), first);
      }),
    );
  });

  test('An SQL statement never contains a value in its text', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.maxSafeNat(), (text, number) => {
        const marked = `<<${text}>>`;
        const statement = sql`a = ${marked} and b in (${valueList([marked, number])}) and ${rowsFromJson([{ marked }])}`;
        assert.ok(!statement.render('sqlite').text.includes('<<'));
        assert.ok(!statement.render('postgres').text.includes('<<'));
      }),
    );
  });

  test('An SQL statement from one template accepts values and statements in turn', () => {
    const equal = (part: Value | Statement) => sql`a = ${part}`;
    const parts = fc.oneof(
      values,
      values.map((value) => sql`lower(${value})`),
      fc.constant(sql`b`),
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 5 }), (some) => {
        for (const part of some) {
          const { text, values: bound } = equal(part).render('sqlite');
          assert.equal(text.match(/\?/g)?.length ?? 0, bound.length);
          assert.ok(bound.every((value) => typeof value !== 'object' || value === null));
        }
      }),
    );
  });

  test('An SQL statement is rendered as it was written', () => {
    const nested = sql`select * from cheese where ${joinAnd([sql`id > ${1}`, sql`name = ${'Brie'}`])}${forUpdate}`;
    assert.deepEqual(nested.render('sqlite'), {
      text: 'select * from cheese where id > ? and name = ?',
      values: [1, 'Brie'],
    });
    assert.deepEqual(nested.render('postgres'), {
      text: 'select * from cheese where id > $1 and name = $2 for update',
      values: [1, 'Brie'],
    });
  });
});

suite('Fragments', () => {
  test('join() of SQL fragments inserts the separator only between statements', () => {
    const one = sql`x`;
    assert.equal(join([], ', ').render('sqlite').text, '');
    assert.equal(join([one], ', ').render('sqlite').text, 'x');
    assert.equal(join([one, one, one], ', ').render('sqlite').text, 'x, x, x');
  });

  test('allTrue of SQL fragments returns true without conditions', () => {
    assert.equal(joinAnd([]).render('postgres').text, 'true');
  });

  test('rowsFromJson of SQL fragments binds a whole table as one JSON value', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), values)), (table) => {
        for (const engine of ['sqlite', 'postgres'] as const) {
          const { values: bound } = neutral(rowsFromJson(table), engine);
          assert.deepEqual(bound, [JSON.stringify(table)]);
        }
      }),
    );
  });
});

/** Query parameters and headers, converted to the types that a route declares. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { readHeaders, readQuery } from '../../src/http/pipeline/parameters.ts';
import type { Parameters } from '../../src/schema/schema.ts';

const declared = {
  limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  sort: { type: 'string', enum: ['name', '-name'], default: 'name' },
  status: { type: 'array', items: { type: 'string', enum: ['available', 'sold'] } },
  tags: { type: 'array', items: { type: 'string', maxLength: 5 }, maxItems: 3 },
  q: { type: 'string', minLength: 1, maxLength: 5 },
  dryRun: { type: 'boolean' },
} as const satisfies Parameters;

const read = (query: string, isStrict = false) => readQuery(declared, new URLSearchParams(query), isStrict);
const errorsOf = (query: string, isStrict = false) =>
  read(query, isStrict).errors.map(({ field, message }) => `${field} ${message}`);

suite('readQuery', () => {
  test('readQuery returns only defaults for an empty query', () => {
    assert.deepEqual(read(''), { values: { limit: 20, sort: 'name' }, errors: [] });
  });

  test('readQuery converts text to the declared types', () => {
    const { values, errors } = read('limit=7&status=sold,available&q=%C3%A9&dryRun=TRUE&sort=-name');
    assert.deepEqual(errors, []);
    assert.deepEqual(values, {
      limit: 7,
      sort: '-name',
      status: ['sold', 'available'],
      q: 'é',
      dryRun: true,
    });
  });

  test('readQuery accepts exactly the whole numbers within the bounds', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: -5, max: 105 }), fc.integer()), (number) => {
        const { values, errors } = read(`limit=${number}`);
        const isInRange = number >= 1 && number <= 100;
        assert.equal(values.limit, isInRange ? number : undefined);
        assert.equal(errors.length, isInRange ? 0 : 1);
      }),
    );
  });

  test('readQuery refuses other spellings of numbers', () => {
    for (const text of [
      '',
      'abc',
      '1.0',
      '1e1',
      '0x10',
      '+5',
      ' 5',
      '5 ',
      '5,6',
      '٥',
      'NaN',
      'Infinity',
      '--5',
    ]) {
      assert.deepEqual(
        errorsOf(`limit=${encodeURIComponent(text)}`),
        ['limit must be a whole number from 1 to 100'],
        text,
      );
    }
    assert.equal(errorsOf('limit=99999999999999999999').length, 1);
  });

  test('readQuery reads a list with commas or repeated, each value once, in order', () => {
    const statuses = fc.array(fc.constantFrom('available', 'sold'), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(statuses, { minLength: 1, maxLength: 4 }), (groups) => {
        const query = groups.map((group) => `status=${group.join(',')}`).join('&');
        assert.deepEqual(read(query).values.status, [...new Set(groups.flat())]);
        assert.deepEqual(read(query).errors, []);
      }),
    );
  });

  test('readQuery reports one error of a list, and returns no part of it', () => {
    for (const query of [
      'status=',
      'status=sold,',
      'status=,sold',
      'status=sold,,sold',
      'status=sold&status=',
    ]) {
      assert.deepEqual(errorsOf(query), ['status must not contain an empty value'], query);
      assert.equal(read(query).values.status, undefined);
    }
    assert.deepEqual(errorsOf('status=sold,Sold'), ['status must be one of available, sold']);
    assert.deepEqual(errorsOf('tags=a,b,c,d'), ['tags must have at most 3 values']);
    assert.deepEqual(errorsOf('tags=a,abcdef'), ['tags must have at most 5 characters']);
    assert.deepEqual(errorsOf('tags=a,b,c,a,b'), []);
  });

  test('readQuery refuses a repeated parameter that is not a list', () => {
    assert.deepEqual(errorsOf('limit=1&limit=1&q=a&q=b'), [
      'limit must be sent only once',
      'q must be sent only once',
    ]);
  });

  test('readQuery reports all errors in the order of the declaration', () => {
    assert.deepEqual(errorsOf('dryRun=yes&q=&status=x&limit=0'), [
      'limit must be from 1 to 100',
      'status must be one of available, sold',
      'q must not be empty',
      'dryRun must be true or false',
    ]);
  });

  test('readQuery refuses control characters in texts and in elements of lists, also without a rule', () => {
    for (const text of ['%00', 'a%00', '%0A', '%C2%85']) {
      const message = 'must not contain control characters';
      assert.deepEqual(errorsOf(`q=${text}&tags=b,${text}`), [`tags ${message}`, `q ${message}`], text);
    }
  });

  test('readQuery counts Unicode characters', () => {
    assert.deepEqual(errorsOf(`q=${encodeURIComponent('🧀'.repeat(5))}`), []);
    assert.deepEqual(errorsOf(`q=${encodeURIComponent('🧀'.repeat(6))}`), [
      'q must have at most 5 characters',
    ]);
  });

  test('readQuery reports a known parameter in brackets, and what to send', () => {
    const list = ', with its values separated by commas or each in a parameter';
    for (const [query, field, form] of [
      ['status[]=sold', 'status[]', `status${list}`],
      ['status%5B%5D=sold', 'status[]', `status${list}`],
      ['status%255B0%255D=sold', 'status%5B0%5D', `status${list}`],
      ['status[0]=sold&status=available', 'status[0]', `status${list}`],
      ['filter[status][in]=sold', 'filter[status][in]', `status${list}`],
      ['page[limit]=7', 'page[limit]', 'limit'],
      ['q[]=', 'q[]', 'q'],
    ] as const) {
      const expected = `${field} has brackets, which are not read: send ${form}`;
      assert.deepEqual([errorsOf(query), errorsOf(query, true)], [[expected], [expected]], query);
    }
    assert.deepEqual(errorsOf('other[]=1&x[stat]=1&__proto__[limits]=1&[]=2'), []);
  });

  test('readQuery ignores unknown parameters, and reports each once when strict', () => {
    assert.deepEqual(errorsOf('limt=5&limit=0&toString=1'), ['limit must be from 1 to 100']);
    assert.deepEqual(errorsOf('limt=5&limt=6&limit=0&toString=1', true), [
      'limit must be from 1 to 100',
      'limt is not a known parameter',
      'toString is not a known parameter',
    ]);
    assert.deepEqual(errorsOf('limit=5&q=a', true), []);
  });

  test('readQuery returns only declared names and valid values, for any query', () => {
    const names = fc.constantFrom(...Object.keys(declared), 'x', '__proto__');
    const values = fc.oneof(fc.constantFrom('1', '100', 'sold', 'name', 'true', ',', ''), fc.string());
    fc.assert(
      fc.property(fc.array(fc.tuple(names, values), { maxLength: 6 }), (pairs) => {
        const { values: got, errors } = readQuery(declared, new URLSearchParams(pairs), false);
        assert.ok(Object.keys(got).every((name) => Object.hasOwn(declared, name)));
        assert.ok(errors.every(({ field, message }) => Object.hasOwn(declared, field) && message !== ''));
        assert.ok(errors.every(({ field }) => !Object.hasOwn(got, field)));
        assert.ok(got.limit === undefined || (Number(got.limit) >= 1 && Number(got.limit) <= 100));
        assert.ok(got.sort === undefined || got.sort === 'name' || got.sort === '-name');
      }),
    );
  });

  test('readQuery reports a missing required parameter', () => {
    const required = {
      status: { type: 'array', items: { type: 'string' }, isRequired: true },
      name: { type: 'string', isRequired: true },
    } as const satisfies Parameters;
    assert.deepEqual(readQuery(required, new URLSearchParams(''), false), {
      values: {},
      errors: [
        { field: 'status', message: 'is required' },
        { field: 'name', message: 'is required' },
      ],
    });
  });
});

suite('readHeaders', () => {
  const headers = {
    'X-Confirm-Delete': { type: 'boolean', isRequired: true },
    'Idempotency-Key': { type: 'string', maxLength: 5 },
  } as const satisfies Parameters;

  test('readHeaders finds a header by its name in lower case', () => {
    assert.deepEqual(readHeaders(headers, { 'x-confirm-delete': 'True', 'idempotency-key': 'a' }), {
      values: { 'X-Confirm-Delete': true, 'Idempotency-Key': 'a' },
      errors: [],
    });
  });

  test('readHeaders reports missing and invalid headers by their declared names', () => {
    const { errors } = readHeaders(headers, { 'idempotency-key': ['abc', 'def'] });
    assert.deepEqual(errors, [
      { field: 'X-Confirm-Delete', message: 'is required' },
      { field: 'Idempotency-Key', message: 'must have at most 5 characters' },
    ]);
    for (const value of ['1', 'yes', '', 'false ', 'truetrue']) {
      assert.equal(readHeaders(headers, { 'x-confirm-delete': value }).errors.length, 1, value);
    }
  });
});

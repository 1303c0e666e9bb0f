/** validate: compared with a general validator, and its error messages. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { Compile } from 'typebox/schema';
import {
  Cheese,
  CheeseInput,
  CheeseList,
  CheeseMergePatch,
  CheesePatch,
  CheeseReplacement,
} from '../../src/cheeses/schemas.ts';
import type { Schema } from '../../src/schema/schema.ts';
import { validate } from '../../src/schema/validate.ts';

const schemas: Record<string, Schema> = { Cheese, CheeseInput, CheeseList, CheesePatch, CheeseReplacement };

/** The reference validator knows neither rules nor all formats. */
function withoutRules({ format: _, rule: _rule, properties, items, ...rest }: Schema): Schema {
  return {
    ...rest,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            // It does not drop read-only members either.
            Object.entries(properties)
              .filter(([, one]) => !one.readOnly)
              .map(([name, one]) => [name, withoutRules(one)]),
          ),
        }),
    ...(items === undefined ? {} : { items: withoutRules(items) }),
  };
}

const typesOf = ({ type = [] }: Schema): readonly string[] => (typeof type === 'string' ? [type] : type);
const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The rules of validate() beyond JSON Schema: null for a member that is not nullable, and unknown members, are absent. */
function reduced(schema: Schema, value: unknown): unknown {
  const { properties, items } = schema;
  if (Array.isArray(value) && items !== undefined) {
    return value.map((element) => reduced(items, element));
  }
  if (!isPlainObject(value) || properties === undefined) {
    return value;
  }
  const kept = Object.entries(properties)
    .filter(([name, one]) => Object.hasOwn(value, name) && (value[name] !== null || isNullable(one)))
    .map(([name, one]) => [name, reduced(one, value[name])]);
  return Object.fromEntries(kept);
}

const isNullable = (schema: Schema) => typesOf(schema).includes('null');

const junk = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 0.5, 120, 121, 1_000_000, 1_000_001, '', '1', [], {}),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Mostly values that a schema accepts, within its bounds and just outside of them. */
function near(schema: Schema): fc.Arbitrary<unknown> {
  const { minimum = -1e9, maximum = 1e9 } = schema;
  const byType = typesOf(schema).map((type): fc.Arbitrary<unknown> => {
    switch (type) {
      case 'object':
        return nearObject(schema);
      case 'array':
        return fc.array(near(schema.items ?? {}), { maxLength: 2 });
      case 'string':
        return nearText(schema);
      case 'integer':
        return rarely(fc.constantFrom(minimum - 1, maximum + 1), fc.integer({ min: minimum, max: maximum }));
      case 'number':
        return rarely(fc.double(), fc.double({ min: minimum, max: maximum, noNaN: true }));
      case 'boolean':
        return fc.boolean();
      default:
        return fc.constant(null);
    }
  });
  return rarely(junk, fc.oneof(...byType));
}

function rarely<T>(one: fc.Arbitrary<T>, usual: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 1, arbitrary: one }, { weight: 40, arbitrary: usual });
}

function nearText({ enum: options, minLength = 0, maxLength = 20 }: Schema): fc.Arbitrary<unknown> {
  if (options !== undefined) {
    return rarely<unknown>(fc.constant('unheard of'), fc.constantFrom(...options));
  }
  // Each of these is one code point and one grapheme, because the reference validator counts graphemes.
  const letters = fc.constantFrom('a', 'é', '🧀', ' ');
  const repeated = (...lengths: number[]) =>
    fc.tuple(letters, fc.constantFrom(...lengths)).map(([letter, length]) => letter.repeat(length));
  return rarely(
    repeated(Math.max(0, minLength - 1), maxLength + 1),
    fc.oneof(
      repeated(minLength, maxLength - 1, maxLength),
      fc.string({ unit: letters, minLength, maxLength: 5 }),
    ),
  );
}

function nearObject({ properties = {}, required = [] }: Schema): fc.Arbitrary<unknown> {
  const model = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, near(one)]));
  const whole = fc.record(model, { requiredKeys: [...required] });
  const partial = fc.record(model, { requiredKeys: [] });
  const unknown = fc.dictionary(fc.constantFrom('x', 'Name', '__proto__', 'toString'), junk, { maxKeys: 2 });
  return fc.tuple(rarely(partial, whole), unknown).map(([known, more]) => ({ ...known, ...more }));
}

suite('validate, compared with a general validator', () => {
  for (const [name, original] of Object.entries(schemas)) {
    test(`validate() accepts the same values for ${name} and copies them`, () => {
      const schema = withoutRules(original);
      const reference = Compile(schema as object);
      let taken = 0;
      fc.assert(
        fc.property(near(schema), (value) => {
          const expected = reduced(schema, value);
          const isAccepted = reference.Check(expected);
          const result = validate(schema, value);
          assert.equal(result.errors.length === 0, isAccepted, JSON.stringify(result.errors));
          if (isAccepted) {
            taken += 1;
            assert.deepEqual(result.value, expected);
          }
        }),
        { numRuns: 500 },
      );
      assert.ok(taken > 50, `only ${taken} of 500 values were valid: the property hardly tests anything`);
    });
  }

  test('validate() does not change its argument', () => {
    fc.assert(
      fc.property(near(CheeseInput), (value) => {
        const before = structuredClone(value);
        validate(CheeseInput, value);
        assert.deepEqual(value, before);
      }),
    );
  });

  test('validate() returns a copy that it accepts again unchanged', () => {
    fc.assert(
      fc.property(near(CheeseInput), (value) => {
        const { value: copy, errors } = validate(CheeseInput, value);
        fc.pre(errors.length === 0);
        const again = validate(CheeseInput, copy, true);
        assert.deepEqual([again.value, again.errors], [copy, []]);
      }),
    );
  });
});

suite('validate', () => {
  const errorsOf = (value: unknown, isStrict = false) =>
    validate(CheeseInput, value, isStrict).errors.map(({ field, message }) => `${field}: ${message}`);

  test('validate() returns every error with its path, in the order of the schema', () => {
    assert.deepEqual(
      errorsOf({
        organic: 'yes',
        ageMonths: 12.5,
        pricePerKg: -1,
        tags: [{ name: 'cow' }, { name: 'a,b' }, {}],
        category: { name: '' },
        name: ' ',
      }),
      [
        'name: must not be empty',
        'category.name: must not be empty',
        'tags[1].name: must contain at least one visible character, and no commas, control or invisible characters (joiners between two characters are allowed)',
        'tags[2]: must have at least one of id, name',
        'pricePerKg: must be from 0 to 1000000',
        'ageMonths: must be a whole number',
        'organic: must be true or false',
      ],
    );
  });

  test('validate() reports a value that is no object as an error of the whole body', () => {
    for (const value of [null, [], 'x', 1, true]) {
      assert.deepEqual(errorsOf(value), [': must be an object']);
    }
  });

  test('validate() names the members of an object in whose place there is another value', () => {
    assert.deepEqual(errorsOf({ name: 'Brie', category: 'Soft', tags: ['cow'] }), [
      'category: must be an object {id, name}',
      'tags[0]: must be an object {id, name}',
    ]);
    assert.equal(
      validate(CheeseMergePatch, { category: 'Soft' }).errors[0]?.message,
      'must be an object {id, name} or null',
    );
  });

  test('validate() treats null as an absent member, unless it is required', () => {
    const { value, errors } = validate(CheeseInput, {
      name: 'Brie',
      origin: null,
      ageMonths: null,
      tags: null,
    });
    assert.deepEqual(errors, []);
    assert.deepEqual(value, { name: 'Brie', origin: null });
    assert.deepEqual(errorsOf({ name: null }), ['name: is required and must not be null']);
    assert.deepEqual(errorsOf({}), ['name: is required']);
  });

  test('validate() drops unknown members, and reports them when strict', () => {
    const value = { name: 'Brie', nmae: 1, tags: [{ name: 'cow', weight: 2 }] };
    assert.deepEqual(validate(CheeseInput, value).value, { name: 'Brie', tags: [{ name: 'cow' }] });
    assert.deepEqual(errorsOf(value, true), [
      'tags[0].weight: is not a known field',
      'nmae: is not a known field',
    ]);
  });

  test('validate() ignores members of prototypes', () => {
    const value = JSON.parse('{"name":"Brie","__proto__":{"status":"sold"},"constructor":1}');
    const { value: copy, errors, ignored } = validate(CheeseInput, value);
    assert.deepEqual(
      [copy, errors, ignored],
      [{ name: 'Brie' }, [], { count: 2, paths: ['__proto__', 'constructor'] }],
    );
    assert.deepEqual(validate(CheeseInput, Object.create({ name: 'Brie' })).errors.length, 1);
  });

  test('validate() counts the length of texts in code points', () => {
    for (const letter of ['a', 'é', '🧀', 'e\u0301'.at(0) ?? '']) {
      assert.deepEqual(errorsOf({ name: letter.repeat(255) }), []);
      assert.deepEqual(errorsOf({ name: letter.repeat(256) }), ['name: must have at most 255 characters']);
    }
    assert.deepEqual(errorsOf({ name: 'e\u0301'.repeat(128) }), ['name: must have at most 255 characters']);
    const pair = { type: 'string', minLength: 2, maxLength: 2 } as const;
    assert.deepEqual(validate(pair, '🧀').errors, [
      { field: '', message: 'must have at least 2 characters' },
    ]);
    assert.deepEqual(validate(pair, '🧀🧀').errors, []);
    assert.equal(validate(pair, '🧀🧀🧀').errors.length, 1);
  });

  test('validate() does not validate the elements of an array that is too long', () => {
    const tags = Array.from({ length: 101 }, () => ({ name: '' }));
    assert.deepEqual(errorsOf({ name: 'Brie', tags }), ['tags: must have at most 100 elements']);
    assert.equal(errorsOf({ name: 'Brie', tags: tags.slice(1) }).length, 100);
  });

  test('validate() refuses URLs with a script or of a local file, in every spelling', () => {
    for (const url of ['javascript:alert(1)', ' JavaScript:x', 'data:text/html,x', 'FILE:///etc', 'a\tb']) {
      assert.equal(errorsOf({ name: 'Brie', photoUrls: [url] }).length, 1, url);
    }
    for (const url of ['https://x.org/a,b', 'photo.jpg', 'x', 'mydata:1']) {
      assert.deepEqual(errorsOf({ name: 'Brie', photoUrls: [url] }), [], url);
    }
  });
});

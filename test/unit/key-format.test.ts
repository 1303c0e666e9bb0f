/** The format of API keys: generation, and validation of the checksum. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { hashKey, makeKey, typeOfKey } from '../../src/auth/keys/format.ts';
import { systemClock } from '../../src/clock.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const types = fc.constantFrom('live', 'test');

/** Any code point except surrogates. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));

suite('API keys', () => {
  test('API keys have a valid format and type, and are unique', () => {
    const keys = new Set<string>();
    for (let count = 0; count < 500; count += 1) {
      const type = count % 2 === 0 ? 'live' : 'test';
      const key = makeKey(type, systemClock);
      assert.equal(typeOfKey(key), type);
      assert.equal(key.length, 'sk_live_'.length + 36);
      assert.ok(key.startsWith(`sk_${type}_`));
      keys.add(key);
    }
    assert.equal(keys.size, 500);
  });

  test('API keys are invalid when one character is changed', () => {
    const characters = fc.oneof(fc.constantFrom(...base62), anyCharacter);
    fc.assert(
      fc.property(types, fc.nat(43), characters, (type, position, character) => {
        const key = makeKey(type, systemClock);
        const changed = key.slice(0, position) + character + key.slice(position + 1);
        fc.pre(changed !== key);
        assert.equal(typeOfKey(changed), null);
      }),
      { numRuns: 1000 },
    );
  });

  test('API keys are invalid when cut, extended, swapped or mixed', () => {
    const key = makeKey('live', systemClock);
    const other = makeKey('live', systemClock);
    const swapped = [...key];
    const at = swapped.findIndex((character, index) => index > 8 && character !== swapped[index - 1]);
    [swapped[at], swapped[at - 1]] = [swapped[at - 1] ?? '', swapped[at] ?? ''];
    for (const text of [
      '',
      key.slice(0, -1),
      `${key}0`,
      ` ${key}`,
      `${key}\n`,
      key.replace('live', 'test'),
      key.replace('sk_', 'SK_'),
      key.toUpperCase(),
      swapped.join(''),
      key.slice(0, 25) + other.slice(25),
      'sk_live_',
      'sk_live_constructor',
    ]) {
      assert.equal(typeOfKey(text), null, text);
    }
  });

  test('API keys are never recognized in random text', () => {
    fc.assert(fc.property(fc.string(), (text) => assert.equal(typeOfKey(text), null)));
  });

  test('API keys use each of the 62 characters equally often', () => {
    const counts = new Map<string, number>([...base62].map((character) => [character, 0]));
    const keys = 2000;
    for (let count = 0; count < keys; count += 1) {
      for (const character of makeKey('test', systemClock).slice('sk_test_'.length, -6)) {
        counts.set(character, (counts.get(character) ?? Number.NaN) + 1);
      }
    }
    const expected = (keys * 30) / 62;
    const chiSquare = [...counts.values()].reduce(
      (sum, count) => sum + (count - expected) ** 2 / expected,
      0,
    );
    // 61 degrees of freedom: a fair draw exceeds 150 once in ten billion runs. A plain modulo of a byte gives 400.
    assert.ok(chiSquare < 150, `chi square ${chiSquare}`);
  });

  test('API keys discard random bytes that would favor some characters', () => {
    const draws = [new Uint8Array(30).fill(248), new Uint8Array(30).fill(255), new Uint8Array(30).fill(247)];
    const clock = { ...systemClock, random: () => draws.shift() ?? new Uint8Array(30) };
    assert.ok(makeKey('test', clock).startsWith(`sk_test_${'z'.repeat(30)}`));
  });

  test('API keys are stored as a SHA-256 hash that differs for each key', () => {
    const key = makeKey('live', systemClock);
    assert.match(hashKey(key), /^[0-9a-f]{64}$/);
    assert.equal(hashKey(key), hashKey(key));
    assert.notEqual(hashKey(key), hashKey(makeKey('live', systemClock)));
    assert.equal(hashKey(''), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });
});

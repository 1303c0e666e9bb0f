/** The lists of countries and currencies that pages offer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countryOptions } from '../../console/src/parts/text/countries.ts';
import { currencyOptions } from '../../console/src/parts/text/currencies.ts';
import { countryRule } from '../../src/schema/countries.ts';
import { currencyRule } from '../../src/schema/currencies.ts';

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const accepted = letters
  .flatMap((first) => letters.map((second) => first + second))
  .filter((code) => countryRule.test(code));

test('The countries of the console and of the examples are those that a shipping address may name', async () => {
  assert.deepEqual(
    countryOptions()
      .map(({ value }) => value)
      .sort(),
    accepted,
  );
  for (const example of ['storefront', 'browser-shop']) {
    const { countryCodes, countryName } = await import(`../../examples/${example}/countries.js`);
    assert.deepEqual(countryCodes, accepted, example);
    assert.deepEqual(['AT', 'AU', 'DE', 'CN'].map(countryName), ['Austria', 'Australia', 'Germany', 'China']);
  }
});

test('The currencies of the console are those that a shop may have', () => {
  const codes = letters
    .flatMap((first) => letters.flatMap((second) => letters.map((third) => first + second + third)))
    .filter((code) => currencyRule.test(code));
  assert.deepEqual(
    currencyOptions().map(({ value }) => value),
    codes,
  );
  assert.ok(currencyOptions().some(({ label }) => label === 'EUR, Euro'));
});

/** No function is longer than what is read at once. functions.ts says what counts. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { measureFunctions } from './functions.ts';

const linesMax = 60;
/** Longer functions, each with the reason why it is not split. */
const longFunctions: Readonly<Record<string, string>> = {
  'src/app/published-limits.ts publishedLimits': 'one line for each published limit',
};

suite('Functions', () => {
  const functions = measureFunctions();
  const linesOf = (name: string) => functions.find((one) => `${one.path} ${one.name}` === name)?.lines;

  test('Functions are measured by this gate', () => {
    assert.ok(functions.length > 4000);
    const { length } = `${measureFunctions}`.split('\n');
    assert.equal(linesOf('test/gates/functions.ts measureFunctions'), length);
    // Its inner functions with a name count by themselves.
    assert.ok((linesOf('test/gates/functions.ts measureFile') ?? 0) < 15);
    assert.ok((linesOf('test/gates/functions.ts measureFile.visit') ?? 0) > 15);
    assert.ok(linesOf('src/orders/routes.ts storeRoutes.handle') !== undefined);
    assert.ok(linesOf('console/src/parts/chart.tsx Chart') !== undefined);
  });

  test(`Functions have at most ${linesMax} lines in src, client/src and console/src without an entry with a reason`, () => {
    const long = functions.filter(({ path, lines }) => lines > linesMax && !path.startsWith('test/'));
    assert.deepEqual(
      long.map(({ path, name }) => `${path} ${name}`).sort(),
      Object.keys(longFunctions).sort(),
      'split the new ones, and remove entries of functions that are short enough',
    );
  });
});

/** Titles of tests. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { filesIn, read } from './sources.ts';

/** A call that registers a test, and its title. Helpers that register tests for a browser are named `inConsole`. */
const registration =
  /^ *(?:await )?(?:(?:\w+\.)?test(?:\.\w+)?|in[A-Z]\w*)\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/gm;

/** The first word of a title that can have a small first letter: a command, a function, a file, a setting. */
const nameInCode = /^(?:curd|npm|\S*[A-Z_./()-]\S*)(?:\s|$)/;

const verb =
  /^(?:is|are|has|have|does|do|can|cannot|may|returns|refuses|accepts|rejects|shows|needs|keeps|gets|sends|gives|ends|never|also)\b/i;

/** A grep for the noun finds the test, and its line alone says what is tested: the suite may be far above. */
function hasSubject(title: string): boolean {
  return (/^[A-Z\d/]/.test(title) || nameInCode.test(title)) && !verb.test(title);
}

function titlesIn(source: string): string[] {
  return [...source.matchAll(registration)].map(([, single, double, template]) =>
    String(single ?? double ?? template),
  );
}

const longest = 130;

suite('Titles of tests', () => {
  const titles = filesIn('test/**/*.ts').flatMap((path) =>
    titlesIn(read(path)).map((title) => ({ path, title })),
  );

  test('Titles of tests are found in each way to register a test', () => {
    const source = `
      test('One', () => {});
      await t.test(\`Two \${name}\`, async () => {});
        test.skip("Three's", () => {});
      inConsole(
        'Four',
      );`;
    assert.deepEqual(titlesIn(source), ['One', `Two \${name}`, "Three's", 'Four']);
    assert.ok(titles.length > 1500);
  });

  test('Titles of tests begin with their subject, so that each can be found without its suite', () => {
    for (const title of [
      'is refused',
      'Returns 404',
      `\${name} is read`,
      'a key ends',
      'of a shop',
      'curds end',
    ]) {
      assert.ok(!hasSubject(title), title);
    }
    for (const title of [
      'A key is refused',
      'GET / is JSON',
      'curd serve ends',
      'foldText ends',
      '404 is sent',
    ]) {
      assert.ok(hasSubject(title), title);
    }
    const without = titles.filter(({ title }) => !hasSubject(title));
    assert.deepEqual(without, [], 'Put the noun of the test, which may be in its suite, before its verb.');
  });

  test(`Titles of tests have at most ${longest} characters, without the sources that they name`, () => {
    const long = titles.filter(({ title }) => title.replace(/ \([^()]*\d[^()]*\)$/, '').length > longest);
    assert.deepEqual(long, [], 'Say less: what happens, and in which case.');
  });
});

/** Clients choose the input of regular expressions, so each of them must run in linear time. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createContext, Script } from 'node:vm';
import { type Literal, literalsIn, pumpedInputs } from './regular-expressions.ts';
import { filesIn, placesOf, read } from './sources.ts';

/** For so many characters, quadratic backtracking takes 5,000,000,000 steps, and linear matching 100,000. */
const pumpedLength = 100_000;
const timeoutMs = 500;

const sandbox = createContext({ text: '', source: '', flags: '' });
const run = new Script('void text.replace(new RegExp(source, flags), "")');

/** The first input for which the expression exceeds the time limit. */
function slowInput(literal: Literal): string | undefined {
  return pumpedInputs(literal, pumpedLength).find((text) => {
    Object.assign(sandbox, { text, source: literal.source, flags: literal.flags });
    try {
      run.runInContext(sandbox, { timeout: timeoutMs });
      return false;
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ERR_SCRIPT_EXECUTION_TIMEOUT');
      return true;
    }
  });
}

const literal = (source: string, flags = ''): Literal => ({ source, flags, line: 1 });

suite('Regular expressions', () => {
  test('Regular expressions are found in comments, strings and templates only where they are code', () => {
    const text = [
      'const a = /one/g; // and /not this/',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source code.
      "const b = '/nor this/' + `/nor that/ ${c.replace(/two[/]/u, '')} /or that/`;",
      'const d = (8 / 4) / 2; /* /nor this/ */ return /th\\/ree/.test(b) ? e[0] / f : /four/y;',
    ].join('\n');
    assert.deepEqual(
      literalsIn(text).map(({ source, flags, line }) => `${line} ${source} ${flags}`),
      ['1 one g', '2 two[/] u', '3 th\\/ree ', '3 four y'],
    );
  });

  test('Regular expressions that take quadratic or exponential time are detected', () => {
    for (const slow of [
      literal('^\\s*([\\w*-]+)\\s*(?:;\\s*q=([\\d.]+))?\\s*$', 'i'),
      literal('(\\d+(?:\\.\\d+)?)\\s*(day|week)'),
      literal('^\\s*(\\w+)\\s*=\\s*(.+)$'),
      literal('^ +| +$', 'g'),
      literal('^(a+)+$'),
      literal('^(?:ab|a|b)*c$'),
      literal('<!--.*-->'),
    ]) {
      assert.notEqual(slowInput(slow), undefined, slow.source);
    }
  });

  test('Regular expressions of src take linear time for all pumped inputs', () => {
    const literals = filesIn('src/**/*.ts').flatMap((path) =>
      literalsIn(read(path)).map((one) => ({ ...one, place: `${path}:${one.line}` })),
    );
    assert.ok(literals.length > 90, `${literals.length} were found`);
    assert.ok(literals.some(({ place }) => place.startsWith('src/catalogue-import/cells.ts')));
    const slow = literals.flatMap((one) => {
      const input = slowInput(one);
      return input === undefined
        ? []
        : [`${one.place} /${one.source}/${one.flags} on ${JSON.stringify(input.slice(0, 40))}`];
    });
    assert.deepEqual(slow, [], 'rewrite these, so that no two repetitions can match the same text');
  });

  test('Regular expressions are all literals, so that these tests find them', () => {
    // The operator chooses the text of the expression and the file names that it is matched with.
    const allowed = ['src/cli/commands/database/backup-names.ts'];
    assert.deepEqual(placesOf(/\bRegExp\(/, allowed), [], 'write a literal, or compare texts');
  });
});

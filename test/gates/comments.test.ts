/** Comments name their subject: "The wait after a failure", not "After a failure". */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filesIn, read } from './sources.ts';

const prepositions = [
  ...[
    'Above',
    'After',
    'Against',
    'Among',
    'As',
    'At',
    'Before',
    'Behind',
    'Below',
    'Between',
    'By',
    'During',
  ],
  ...['For', 'From', 'In', 'Inside', 'Into', 'Like', 'Of', 'On', 'Outside', 'Over', 'Per', 'Since', 'Than'],
  ...['The same', 'Through', 'To', 'Under', 'Until', 'Up to', 'Upon', 'With', 'Within', 'Without'],
];
/** "Limit of the requests that wait", not "While they wait": the subject of such a comment is what it stands above. */
const bareWords = ['Not', 'Only', 'Where', 'While'];

/** Comments that begin with one of these words, also behind code, as `line: text`. */
function withoutSubject(source: string, words: readonly string[]): string[] {
  const beginning = new RegExp(String.raw`(?:^|\s)(?:/\*\*?\s+(?:\*\s)?|// )(?:${words.join('|')})\b`);
  const lines = source.split('\n');
  return lines.flatMap((line, index) => {
    const isContinued = /^\s*\/\//.test(line) && /^\s*\/\//.test(lines[index - 1] ?? '');
    const text = line.trimEnd().endsWith('/**') ? `${line} ${lines[index + 1]?.trim()}` : line;
    return !isContinued && beginning.test(text) ? [`${index + 1}: ${text.trim()}`] : [];
  });
}

test('A comment does not begin with a preposition, "The same", "Not", "Only", "Where" or "While"', () => {
  const found = filesIn('{src,client/src,console/src}/**/*.{ts,tsx,css}')
    .filter((path) => !['client/src/schema.ts', 'client/src/areas/generated.ts'].includes(path))
    .flatMap((path) => {
      return withoutSubject(read(path), [...prepositions, ...bareWords]).map((place) => `${path}:${place}`);
    });
  assert.deepEqual(
    found,
    [],
    'begin with what is described: "Limit of one request", "Returns the rows by id"',
  );
});

test('A comment without a subject is found in each of its forms', () => {
  const source = [
    '/** Of one request. */',
    '/**',
    ' * The same for one job.',
    ' */',
    'const a = 1; // In seconds.',
    '// Ordered, because a reader',
    '// On another instance expects it.',
    "const url = 'http://host'; /* By name. */",
    '/** Offers a place. */',
    '/** Only while it runs. */',
    '// Where the rows end.',
    '/** Whereas this names both. */',
  ].join('\n');
  assert.deepEqual(
    withoutSubject(source, [...prepositions, ...bareWords]).map((place) => place.split(':')[0]),
    ['1', '2', '5', '8', '10', '11'],
  );
});

/** Links between documents lead to files and headings that exist, and so do paths of documents in the code. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { filesIn, read } from './sources.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const documents = filesIn('*.md', 'docs/**/*.md', 'bench/*.md', 'client/*.md', 'examples/**/*.md');

/** The fragments of a page: its headings, as GitHub writes them. */
function fragmentsOf(page: string): Set<string> {
  const headings = [...read(page).matchAll(/^#+ +(.*)$/gm)].map(([, text = '']) => text);
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

test('Links in documents lead to a file, and to a heading of it', () => {
  const broken: string[] = [];
  for (const page of documents) {
    const text = read(page).replace(/^```.*?^```/gms, '');
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path = '', fragment] = target.split('#');
      const file = path === '' ? page : normalize(join(dirname(page), path));
      const isPage = file.endsWith('.md');
      if (
        !existsSync(join(root, file)) ||
        (isPage && fragment !== undefined && !fragmentsOf(file).has(fragment))
      ) {
        broken.push(`${page}: ${target}`);
      }
    }
  }
  assert.deepEqual(broken, [], 'correct these links: the file or its heading does not exist');
});

test('Code names only documents that exist', () => {
  const named = filesIn(
    '{src,test,client,console,bench,deploy,examples,release,bin}/**/*.{ts,tsx,js,sql,yml,service}',
  )
    .filter((path) => !path.includes('/dist/'))
    .flatMap((path) => [...read(path).matchAll(/\bdocs\/[\w/.-]+\.md\b/g)].map(([name]) => ({ path, name })));
  assert.ok(named.length > 10);
  assert.deepEqual(
    named.filter(({ name }) => !existsSync(join(root, name))),
    [],
    'correct the names of these documents in the code',
  );
});

test('Decisions have the number of their file, are listed, and are named by that number', () => {
  const records = filesIn('docs/decisions/0*.md');
  const numberOf = (path: string) => Number(/(\d{4})-[\w-]+\.md$/.exec(path)?.[1]);
  const numbers = records.map(numberOf);
  assert.equal(new Set(numbers).size, records.length, 'give each decision another number');
  const listed = [...read('docs/decisions/README.md').matchAll(/^- \[\d+\. .*\]\(([\w-]+\.md)\)$/gm)];
  assert.deepEqual(
    listed.map(([, name]) => `docs/decisions/${name}`).toSorted(),
    records,
    'list each decision once in docs/decisions/README.md',
  );
  for (const path of records) {
    assert.ok(read(path).startsWith(`# ${numberOf(path)}. `), `begin ${path} with its number: "# 7. Title"`);
  }
  const code = filesIn('{src,test,client,console,bench,migrations}/**/*.{ts,tsx,sql}');
  for (const path of [...documents, ...code]) {
    const text = read(path);
    for (const [link, number, target = ''] of text.matchAll(
      /\[(?:[a-z]+ )?(\d+)[^\]]*\]\(([\w./-]*\d{4}-[\w-]+\.md)\)/gi,
    )) {
      assert.equal(Number(number), numberOf(target), `${path}: ${link}`);
    }
    for (const [name, number] of text.matchAll(/\bdecision(?: record)? (\d+)\b/gi)) {
      assert.ok(numbers.includes(Number(number)), `${path} names ${name}`);
    }
  }
});

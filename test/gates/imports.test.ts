/** Layers: who may import whom. */
import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { suite, test } from 'node:test';
import { filesIn, read } from './sources.ts';

/** From the top to the bottom: a file imports from its own layer and from those below it. */
const layers: readonly RegExp[] = [
  /^src\/main\.ts$/,
  /^src\/cli\//,
  /^src\/app\//,
  /^src\/(cheeses|images|orders|customers)\//,
  /^src\/auth\/(?!principal\.ts|access\.ts)/,
  /^src\/http\//,
  /^src\/(limits|idempotency|events|jobs)\//,
  /^src\/(database|files|workers)\//,
  /^src\/(schema|settings)\/|^src\/auth\/(principal|access)\.ts$|^src\/[a-z-]+\.ts$/,
];
const areas = /^src\/(cheeses|images|orders|customers)\//;
const queries = /(^|[/-])queries\.ts$/;

interface Import {
  readonly from: string;
  readonly to: string;
  /** Loaded when it is first needed, and not with the file. */
  readonly isLazy: boolean;
}

/** Every import of one file of ours by another, types included. */
function importsOf(path: string): Import[] {
  return [...read(path).matchAll(/(from|import)\s*(\(?)\s*'(\.[^']+\.ts)'/g)].map(
    ([, , bracket, to = '']) => ({
      from: path,
      to: posix.join(posix.dirname(path), to),
      isLazy: bracket === '(',
    }),
  );
}

const files = filesIn('src/**/*.ts');
const imports = files.flatMap(importsOf);
const layerOf = (path: string) => layers.findIndex((pattern) => pattern.test(path));
const shown = (some: readonly Import[]) => some.map(({ from, to }) => `${from} -> ${to}`);

suite('Imports', () => {
  test('are seen by this gate', () => {
    assert.ok(imports.length > files.length);
    assert.ok(shown(imports).includes('src/app/compose.ts -> src/app/services.ts'));
    assert.ok(shown(imports).includes('src/cli/commands.ts -> src/cli/serve.ts'));
    const dangling = imports.filter(({ to }) => !files.includes(to));
    assert.deepEqual(shown(dangling), []);
  });

  test('know a layer for every file', () => {
    assert.deepEqual(
      files.filter((path) => layerOf(path) === -1),
      [],
      'say in layers where these belong',
    );
  });

  test('run one way, from main down to errors, config and clock', () => {
    const upward = imports.filter(({ from, to }) => layerOf(to) < layerOf(from));
    assert.deepEqual(shown(upward), []);
  });

  test("of one area never reach another area's queries: it may receive the other's service", () => {
    const crossing = imports.filter(({ from, to }) => {
      const [area] = areas.exec(from) ?? [];
      return area !== undefined && areas.test(to) && !to.startsWith(area) && queries.test(to);
    });
    assert.deepEqual(shown(crossing), []);
  });

  test('of queries stay in the folder of the queries', () => {
    const foreign = imports.filter(
      ({ from, to }) => queries.test(to) && posix.dirname(from) !== posix.dirname(to),
    );
    assert.deepEqual(shown(foreign), []);
  });

  test('of http/ are absent from services, queries, readers and jobs', () => {
    const files = /(^|[/-])(service|queries|reader|job|worker|schemas|on-delete|transitions)\.ts$/;
    const found = imports.filter(
      ({ from, to }) => files.test(from) && !from.startsWith('src/http/') && to.startsWith('src/http/'),
    );
    assert.deepEqual(shown(found), [], 'move what they need to the core, or pass it in');
  });

  test('never lead from a route to SQL', () => {
    const direct = imports.filter(
      ({ from, to }) =>
        /(^|[/-])routes\.ts$/.test(from) && (queries.test(to) || to === 'src/database/sql.ts'),
    );
    assert.deepEqual(shown(direct), []);
  });

  test('form no circle, but for what is loaded on demand', () => {
    const circles: string[] = [];
    const done = new Set<string>();
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) {
        circles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
      } else if (!done.has(path)) {
        for (const { to } of imports.filter(({ from, isLazy }) => from === path && !isLazy)) {
          visit(to, [...trail, path]);
        }
        done.add(path);
      }
    };
    for (const path of files) {
      visit(path, []);
    }
    assert.deepEqual(circles, []);
  });
});

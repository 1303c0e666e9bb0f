/** Imports between files of src follow the layers. */
import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { suite, test } from 'node:test';
import { filesIn, read } from './sources.ts';

/** The areas of the shop, from top to bottom: an area imports only areas of lower layers. */
const areaLayers: readonly (readonly string[])[] = [
  ['src/operations'],
  ['src/mail', 'src/statistics', 'src/notes', 'src/mcp', 'src/edge', 'src/request-log'],
  ['src/orders', 'src/catalogue-import'],
  ['src/customers', 'src/images', 'src/stock'],
  ['src/delivery', 'src/tax', 'src/discounts'],
  ['src/cheeses', 'src/shop', 'src/webhooks', 'src/idempotency', 'src/console-server'],
];
/** From top to bottom: a file imports from its own layer and from those below it. Files of `src` itself are the last but one. */
const layers: readonly (readonly string[])[] = [
  ['src/main.ts'],
  ['src/cli'],
  ['src/app'],
  ['src/sandbox'],
  ...areaLayers,
  ['src/events'],
  ['src/auth'],
  ['src/http'],
  ['src/limits', 'src/stored-responses', 'src/event-log', 'src/jobs', 'src/hooks'],
  ['src/database', 'src/files', 'src/children'],
  ['src/access', 'src/schema', 'src/settings', 'src'],
  // The client is also used without the server.
  ['client'],
];
const queries = /(^|[/-])queries\.ts$/;

interface Import {
  readonly from: string;
  readonly to: string;
}

/** All imports of files in src, type imports included. */
function importsOf(path: string): Import[] {
  return [...read(path).matchAll(/(from|import)\s*(\(?)\s*'(\.[^']+\.tsx?)'/g)].map(([, , , to = '']) => ({
    from: path,
    to: posix.join(posix.dirname(path), to),
  }));
}

const files = filesIn('src/**/*.ts', 'client/{src,browser,webhooks,oauth}/**/*.ts');
const imports = files.flatMap(importsOf);

/** The layer of the nearest folder that is named in the list. */
function layerOf(path: string): number {
  const layer = layers.findIndex((folders) => folders.includes(path));
  return layer === -1 && path.includes('/') ? layerOf(posix.dirname(path)) : layer;
}

const areas = [...areaLayers.flat(), 'src/sandbox'];
const areaOf = (path: string) => areas.find((area) => path.startsWith(`${area}/`));
const isBetweenAreas = ({ from, to }: Import) => {
  const [first, second] = [areaOf(from), areaOf(to)];
  return first !== undefined && second !== undefined && first !== second;
};

const shown = (some: readonly Import[]) => some.map(({ from, to }) => `${from} -> ${to}`);

suite('Imports', () => {
  test('Imports are found by this gate', () => {
    assert.ok(imports.length > files.length);
    assert.ok(shown(imports).includes('src/app/compose.ts -> src/app/foundation.ts'));
    assert.ok(shown(imports).includes('src/cli/commands/commands.ts -> src/cli/server/serve.ts'));
    const dangling = imports.filter(({ to }) => !files.includes(to));
    assert.deepEqual(shown(dangling), [], 'correct these paths, or add the folder to `files` above');
  });

  test('Imports belong to files with a layer', () => {
    assert.deepEqual(
      files.filter((path) => layerOf(path) === -1),
      [],
      'add these files to layers',
    );
  });

  test('Imports have the layers that docs/architecture.md shows', () => {
    const [, block = ''] = /^## Layers$.*?^```text\n(.*?)^```$/ms.exec(read('docs/architecture.md')) ?? [];
    const shownLayers = block
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
    const names = layers.map((folders) => folders.map((folder) => folder.replace(/^src\//, '')));
    assert.deepEqual(shownLayers, names, 'copy `layers` of this file to docs/architecture.md');
  });

  test('Imports lead only to the same layer or a lower one', () => {
    const upward = imports.filter(({ from, to }) => layerOf(to) < layerOf(from));
    assert.deepEqual(
      shown(upward),
      [],
      'move what both files need to a lower layer, or pass it in: src/app/compose.ts knows all areas',
    );
  });

  test('Imports of an area lead to areas of lower layers only, so no two areas import each other', () => {
    const beside = imports.filter((one) => isBetweenAreas(one) && layerOf(one.from) === layerOf(one.to));
    assert.deepEqual(
      shown(beside),
      [],
      'move one of the two areas to another layer, or add a hook (src/hooks/hooks.ts) to what the other one changes',
    );
  });

  test("Imports of one area never lead to another area's queries: it receives the other's service", () => {
    const crossing = imports.filter((one) => isBetweenAreas(one) && queries.test(one.to));
    assert.deepEqual(shown(crossing), [], "call the other area's service, which open.ts can receive");
  });

  test('Imports of queries stay in the folder of the queries and the folders in it', () => {
    const foreign = imports.filter(
      ({ from, to }) => queries.test(to) && !from.startsWith(`${posix.dirname(to)}/`),
    );
    assert.deepEqual(shown(foreign), [], 'call the reader or the service beside the queries instead');
  });

  test('Imports of event types stay in the area that defines them: the list of all is passed in', () => {
    const definitions = /\/event-types\.ts$/;
    const above = /^src\/(app|cli)\//;
    const foreign = imports.filter(
      ({ from, to }) =>
        definitions.test(to) &&
        !above.test(from) &&
        to !== 'src/event-log/event-types.ts' &&
        from.split('/')[1] !== to.split('/')[1],
    );
    assert.deepEqual(
      shown(foreign),
      [],
      'receive the list of all types as a parameter, or call the service that records the event',
    );
    const listed = filesIn('src/**/event-types.ts').filter(
      (path) =>
        !/^src\/(app|event-log)\//.test(path) && !read('src/app/event-types.ts').includes(path.slice(4)),
    );
    assert.deepEqual(listed, [], 'add these to src/app/event-types.ts');
  });

  test('Imports of http/ are absent from services, queries, readers and jobs', () => {
    const files = /(^|[/-])(service|queries|reader|job|worker|schemas|on-delete|transitions)\.ts$/;
    const found = imports.filter(
      ({ from, to }) => files.test(from) && !from.startsWith('src/http/') && to.startsWith('src/http/'),
    );
    assert.deepEqual(shown(found), [], 'move what they need to the core, or pass it in');
  });

  test('Imports never lead from a route to SQL', () => {
    const direct = imports.filter(
      ({ from, to }) =>
        /(^|[/-])routes\.ts$/.test(from) && (queries.test(to) || to === 'src/database/sql.ts'),
    );
    assert.deepEqual(shown(direct), [], 'call a method of the service, which calls the queries');
  });

  test('Imports of the console lead to itself, to its packages and to the client, never to the server', () => {
    const outside = filesIn('console/src/**/*.{ts,tsx}')
      .flatMap(importsOf)
      .filter(
        ({ to }) =>
          !to.startsWith('console/src/') && !['client/src/index.ts', 'client/oauth/index.ts'].includes(to),
      );
    assert.deepEqual(
      shown(outside),
      [],
      'use the client: what the console needs of the server is a response or a type of the API',
    );
  });

  test('Imports of the server never lead to the console or to one of its packages', () => {
    const names = Object.keys(JSON.parse(read('console/package.json')).dependencies).join('|');
    const pattern = new RegExp(`from '(?:${names})[/']`);
    const leading = [...files, ...filesIn('client/src/**/*.ts')].filter(
      (path) => pattern.test(read(path)) || importsOf(path).some(({ to }) => to.startsWith('console/')),
    );
    assert.deepEqual(leading, [], 'move what both need to client/, and packages to package.json');
  });

  test('Imports form no cycle, dynamic imports and the console included', () => {
    const all = [...files, ...filesIn('console/src/**/*.{ts,tsx}')];
    const importsFrom = new Map(all.map((path) => [path, importsOf(path)]));
    const cycles: string[] = [];
    const done = new Set<string>();
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) {
        cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
      } else if (!done.has(path)) {
        for (const { to } of importsFrom.get(path) ?? []) {
          visit(to, [...trail, path]);
        }
        done.add(path);
      }
    };
    for (const path of all) {
      visit(path, []);
    }
    assert.deepEqual(cycles, [], 'move what the files of a cycle share to a file that imports none of them');
  });
});

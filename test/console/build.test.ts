/** The build of the console: its bytes, and the sizes that a first visit and all screens load. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { shared, temporaryFolder } from '../context.ts';

const script = fileURLToPath(new URL('../../console/build.js', import.meta.url));

async function build(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  await promisify(execFile)(process.execPath, [script, '--out', folder]);
  const names = (await readdir(folder, { recursive: true })).filter((name) => /\.\w+$/.test(name)).sort();
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)),
  );
}

suite('npm run build', () => {
  const opened = shared(async (t) => {
    const [first, second] = [await temporaryFolder(t), await temporaryFolder(t)];
    return Promise.all([build(first), build(second)]);
  });

  test('npm run build writes the same bytes twice', () => {
    const [first, second] = opened();
    assert.deepEqual(first, second);
  });

  test('npm run build writes scripts and styles within their limits', () => {
    const [files] = opened();
    const page = String(files.get('index.html'));
    const sizes = { first: { js: 0, css: 0 }, all: { js: 0, css: 0 } };
    const sizeOf = (name: string) => gzipSync(files.get(join('assets', name)) ?? '', { level: 9 }).length;
    const loaded = new Set<string>();
    const load = (name: string) => {
      if (!loaded.has(name)) {
        loaded.add(name);
        const text = String(files.get(join('assets', name)));
        for (const [, imported = ''] of text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) {
          load(imported);
        }
      }
    };
    for (const [, name = ''] of page.matchAll(/\/console\/assets\/([^"]+)"/g)) {
      load(name);
    }
    const names = [...files.keys()].map((name) => name.replace(/^assets./, ''));
    // The first screen.
    load(names.find((name) => /^home-\w+\.js$/.test(name)) ?? '');
    for (const name of files.keys()) {
      const kind = /\.(js|css)$/.exec(name)?.[1] as 'js' | 'css' | undefined;
      if (kind !== undefined) {
        const size = sizeOf(name.replace(/^assets./, ''));
        sizes.all[kind] += size;
        sizes.first[kind] += loaded.has(name.replace(/^assets./, '')) ? size : 0;
      }
    }
    const text = JSON.stringify(sizes);
    // What a visitor waits for: the first screen, then what another one adds. The sum of all bounds what is installed.
    assert.ok(sizes.first.js > 50_000 && sizes.first.js <= 205_000, text);
    assert.ok(sizes.first.css > 5_000 && sizes.first.css <= 30_000, text);
    assert.ok(sizes.all.js <= 410_000 && sizes.all.css <= 45_000, text);
    const first = new Set(loaded);
    const screens = names.filter((name) => /^[a-z]+-\w+\.js$/.test(name) && !/^(?:chunk|main)-/.test(name));
    assert.ok(screens.length > 15, screens.join());
    for (const screen of screens) {
      loaded.clear();
      load(screen);
      const added = [...loaded].filter((name) => !first.has(name));
      const size = added.reduce((sum, name) => sum + sizeOf(name), 0);
      assert.ok(size <= 60_000, `${screen} adds ${size} bytes`);
    }
  });

  test('npm run build writes into the page what is seen first: colors for light and dark, and the frame', () => {
    const [files] = opened();
    const page = String(files.get('index.html'));
    const [, style = ''] = /<style nonce="\{\{nonce\}\}">([^<]*)<\/style>/.exec(page) ?? [];
    for (const text of ['#fffdf8', '#17140f', 'prefers-color-scheme:dark', '.environment{', '.shell{']) {
      assert.ok(style.includes(text), text);
    }
    assert.ok(gzipSync(page).length < 2500, String(gzipSync(page).length));
    // Nothing before the first paint waits for another file.
    const [before = '', after = ''] = page.split('<noscript>');
    assert.doesNotMatch(before, /rel="stylesheet"|<script/);
    assert.match(before, /<section class="environment" aria-label="Environment">\{\{environment\}\}/);
    assert.match(after, /rel="stylesheet".*<div id="root">.*<script type="module"/s);
    // The server fills in these.
    const places = new Set([...page.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name));
    assert.deepEqual([...places].sort(), [
      'command',
      'currency',
      'environment',
      'nonce',
      'shop',
      'title',
      'version',
    ]);
  });

  test('npm run build names in the page every file that its script imports', () => {
    const [files] = opened();
    const page = String(files.get('index.html'));
    const [, entry = ''] = /<script type="module" src="\/console\/assets\/([^"]+)"/.exec(page) ?? [];
    const imported = String(files.get(join('assets', entry))).matchAll(/(?:from|import)"\.\/([^"]+)"/g);
    for (const [, name = ''] of imported) {
      assert.ok(page.includes(`<link rel="modulepreload" href="/console/assets/${name}">`), name);
    }
  });

  test('npm run build writes the styles of every widget in use', async () => {
    const [files] = opened();
    const textOf = (ending: string) =>
      [...files]
        .filter(([name]) => name.endsWith(ending))
        .map(([, bytes]) => String(bytes))
        .join('\n');
    const [scripts, styles] = [textOf('.js'), textOf('.css')];
    const all = await readFile(fileURLToPath(import.meta.resolve('@mantine/core/styles.css')), 'utf8');
    const classes = new Set(all.match(/\.m_[\da-f]{6,8}\b/g));
    const missing = [...classes].filter(
      (name) => scripts.includes(`"${name.slice(1)}"`) && !styles.includes(name),
    );
    assert.deepEqual(missing, []);
  });
});

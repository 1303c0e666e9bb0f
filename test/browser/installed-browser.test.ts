/** The helpers of browser tests: where no browser can start (a program replaces it), and where styles arrive late. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Scope, temporaryFolder } from '../context.ts';
import { measureBox, measureWidth, openPage, useChromium } from './chromium.ts';

useChromium();

const helper = new URL('chromium.ts', import.meta.url).href;
const ofRun = new URL('run-folder.ts', import.meta.url).href;

/** Runs a test that opens a page with a program in place of the browser. */
async function runTest(t: Scope, program: string) {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'unpacking'));
  await writeFile(join(folder, 'unpacked'), '');
  await writeFile(join(folder, 'chromium'), `#!/bin/sh\n${program}\n`);
  await chmod(join(folder, 'chromium'), 0o700);
  const file = join(folder, 'page.test.ts');
  await writeFile(
    file,
    `import { test } from 'node:test';
    import { openPage, useChromium } from '${helper}';
    useChromium();
    test('A page', async (t) => void (await openPage(t)));`,
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const options = { env: { ...env, CURD_TEST_BROWSER: folder }, encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync(process.execPath, ['--test', file], options);
  const script = `const { removeBrowserFolder } = await import('${ofRun}'); await removeBrowserFolder('${folder}');`;
  const end = spawnSync(process.execPath, ['--input-type=module', '-e', script], options);
  return { status, stdout, end: end.stdout };
}

test('A browser test is skipped and counted where the machine lacks a library of Chromium', async (t) => {
  const program =
    'echo "chromium: error while loading shared libraries: libnss3.so: cannot open" >&2; exit 127';
  const { status, stdout, end } = await runTest(t, program);
  assert.equal(status, 0, stdout);
  assert.match(stdout, /skipped 1/);
  assert.equal(
    end,
    'Browser tests skipped: 1. The reason: Chromium needs libnss3.so, which this machine lacks\n',
  );
});

test('A browser test fails where Chromium is installed and does not start', async (t) => {
  const { status, stdout, end } = await runTest(t, 'echo "a broken file" >&2; exit 1');
  assert.equal(status, 1, stdout);
  assert.match(stdout, /a broken file/);
  assert.equal(end, 'Browser tests skipped: 0\n');
});

test('A browser test starts Chromium again after a first failure', async (t) => {
  const count = join(await temporaryFolder(t), 'count');
  const program = `echo x >> ${count}; [ $(wc -l < ${count}) = 1 ] && exit 1; echo "error while loading shared libraries: second.so: no" >&2; exit 127`;
  const { stdout, end } = await runTest(t, program);
  assert.match(stdout, /second\.so/);
  assert.match(end, /^Browser tests skipped: 1\b/);
});

test('A page is measured with its styles, also where they arrive after its text', async (t) => {
  const opened = await openPage(t, { viewport: { width: 360, height: 740 } });
  if (opened === null) {
    return;
  }
  const { page } = opened;
  const html = `<!doctype html><link rel="stylesheet" href="/late.css"><h1>Cheeses</h1><pre>${'cheese '.repeat(99)}</pre>
    <script>onload = () => document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: '/later.css' }))</script>`;
  await page.route('http://page.test/**', async (route) => {
    const { pathname } = new URL(route.request().url());
    const styles: Record<string, string> = {
      '/late.css': 'pre { white-space: normal }',
      '/later.css': 'h1 { height: 99px }',
    };
    const style = styles[pathname];
    if (style !== undefined) {
      await sleep(300);
    }
    const contentType = style === undefined ? 'text/html' : 'text/css';
    await route.fulfill({ contentType, body: style ?? html });
  });
  await page.goto('http://page.test/', { waitUntil: 'commit' });
  await page.getByRole('heading').waitFor();
  assert.equal(await measureWidth(page), 360);
  assert.equal((await measureBox(page.getByRole('heading'))).height, 99);
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { read } from '../gates/sources.ts';
import { curdJson, freshShop, serve } from './run.ts';

const example = fileURLToPath(new URL('../../examples/shop-day.js', import.meta.url));

test('examples/shop-day.js prints what the README says it does', async (t) => {
  const shop = await freshShop(t);
  const server = await serve(t, { ...shop, CURD_APPROVAL_DELAY: '300ms' });
  const { key } = await curdJson(
    shop,
    'keys',
    'create',
    '--account',
    'local',
    '--scope',
    'write:orders admin',
  );
  const child = spawn(process.execPath, [example, server.url], {
    env: { ...process.env, KEY: key },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  assert.equal(code, 0, stderr);
  const promised = /```text\n(.*?)```/s.exec(read('README.md'))?.[1];
  assert.equal(stdout, promised);
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { read } from '../gates/sources.ts';
import { cleanUp } from '../helper.ts';
import { openBrowser } from '../oauth/flow.ts';
import { curdJson, freshShop, serve } from './run.ts';

const guide = read('docs/get-a-token.md');
const example = fileURLToPath(new URL('../../examples/get-a-token.js', import.meta.url));
const password = 'correct horse battery staple';

/** The words of a command of the guide, as a shell would take them apart. */
function wordsOf(command: RegExp): string[] {
  const [, rest = ''] = command.exec(guide.replaceAll('\\\n', ' ')) ?? [];
  assert.notEqual(rest, '', `the guide has no ${command}`);
  return [...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare = '']) => quoted ?? bare);
}

/** Does what the guide says, up to the address that the example prints. */
async function begin(t: TestContext) {
  const shop = await freshShop(t);
  const server = await serve(t, shop);
  const body = /-d '(\{"username": "ada".*?\})'/.exec(guide)?.[1] ?? '';
  assert.equal(JSON.parse(body).password, password);
  const headers = { 'Content-Type': 'application/json' };
  const registered = await fetch(`${server.url}/v2/customer`, { method: 'POST', headers, body });
  assert.equal(registered.status, 201, await registered.text());
  const { clientId } = await curdJson(shop, ...wordsOf(/npx curd (clients create .*)/));
  const child = spawn(process.execPath, [example, server.url], {
    env: { ...process.env, CLIENT_ID: clientId },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  cleanUp(t, async () => {
    child.kill();
    await closed;
  });
  const stderr = text(child.stderr);
  const printed: string[] = [];
  const greeting = Promise.withResolvers<string>();
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    printed.push(piece);
    const address = /^ {2}(http\S+)\n\n/m.exec(printed.join(''))?.[1];
    if (address !== undefined) {
      greeting.resolve(address);
    }
  });
  closed.then(async () => greeting.reject(new Error(await stderr)));
  return {
    url: server.url,
    address: await greeting.promise,
    async ended() {
      const [code] = await closed;
      return { code, stdout: printed.join(''), stderr: await stderr };
    },
  };
}

test('Who follows docs/get-a-token.md and allows it gets the token and the cheeses that it promises', async (t) => {
  const { url, address, ended } = await begin(t);
  const { asked, location } = await openBrowser(url, 'ada', password).visit(address);
  assert.deepEqual(asked, ['login', 'consent']);
  const arrived = await fetch(location ?? '');
  assert.match(await arrived.text(), /you can close this page/);
  const { code, stdout, stderr } = await ended();
  assert.equal(code, 0, stderr);
  assert.equal(stderr, '');
  const promised = /```text\n(.*?)```/s.exec(guide)?.[1];
  const greeting = `Open this address in a browser:\n\n  ${address}\n\n`;
  assert.equal(stdout, `${greeting}${promised}`);
});

test('Who denies it is told so, and the example ends with an error', async (t) => {
  const { url, address, ended } = await begin(t);
  const { location } = await openBrowser(url, 'ada', password).visit(address, { consent: 'deny' });
  await (await fetch(location ?? '')).text();
  const { code, stdout, stderr } = await ended();
  assert.equal(code, 1);
  assert.match(stderr, /Error: access_denied: the customer did not allow it/);
  assert.doesNotMatch(stdout, /A token/);
});

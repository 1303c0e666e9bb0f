/** The steps of docs/get-a-token.md on a running server, with the example as the application. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { read } from '../gates/sources.ts';
import { cleanUp } from '../helper.ts';
import { openBrowser } from '../oauth/flow.ts';
import { curdJson, type Environment, freshShop, type Run, resultOf, serve, startExample } from './run.ts';

const guide = read('docs/get-a-token.md');
const password = 'correct horse battery staple';

/** The words of a command of the guide, split like in a shell. */
function wordsOf(command: RegExp): string[] {
  const [, rest = ''] = command.exec(guide.replaceAll('\\\n', ' ')) ?? [];
  assert.notEqual(rest, '', `the guide has no ${command}`);
  return [...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare = '']) => quoted ?? bare);
}

/** Starts the example. Returns the URL that it prints first, and its output when it has ended. */
async function begin(
  t: TestContext,
  clientId: string,
  where: Environment,
  ...args: string[]
): Promise<{ address: string; run: Promise<Run> }> {
  const child = startExample('get-a-token.js', { CLIENT_ID: clientId, ...where }, ...args);
  const closed = once(child, 'close');
  cleanUp(t, async () => {
    child.kill();
    await closed;
  });
  const run = resultOf(child);
  let printed = '';
  const address = Promise.withResolvers<string>();
  child.stdout.on('data', (piece) => {
    printed += piece;
    const found = /^ {2}(http\S+)\n\n/m.exec(printed)?.[1];
    if (found !== undefined) {
      address.resolve(found);
    }
  });
  run.then(({ stderr }) => address.reject(new Error(stderr)));
  return { address: await address.promise, run };
}

test('A customer who follows docs/get-a-token.md', async (following) => {
  const shop = await freshShop(following);
  const server = await serve(following, shop);
  const body = /-d '(\{"username": "ada".*?\})'/.exec(guide)?.[1] ?? '';
  assert.equal(JSON.parse(body).password, password);
  const headers = { 'Content-Type': 'application/json' };
  const registered = await fetch(`${server.url}/v2/customer`, { method: 'POST', headers, body });
  assert.equal(registered.status, 201, await registered.text());
  const { clientId } = await curdJson(shop, ...wordsOf(/npx curd (clients create [^)]*)/));

  // First, because consent that was given once is not requested again.
  await following.test(
    'A customer who follows docs/get-a-token.md and denies access sees it, and the example ends with an error',
    async (t) => {
      const { address, run } = await begin(t, clientId, {
        CURD_PUBLIC_URL: `${server.url}/`,
        CURD_PORT: '1',
      });
      const browser = openBrowser(server.url, 'ada', password);
      const { location } = await browser.visit(address, { consent: 'deny' });
      await (await fetch(location ?? '')).text();
      const { code, stdout, stderr } = await run;
      assert.equal(code, 1);
      assert.match(stderr, /Error: access_denied: the customer did not allow it/);
      assert.doesNotMatch(stdout, /A token/);
    },
  );

  await following.test(
    'A customer who follows docs/get-a-token.md and allows access gets the token and the cheeses of the guide',
    async (t) => {
      const { address, run } = await begin(
        t,
        clientId,
        { CURD_PUBLIC_URL: 'http://127.0.0.1:1' },
        server.url,
      );
      const { forms, location } = await openBrowser(server.url, 'ada', password).visit(address);
      assert.deepEqual(forms, ['login', 'consent']);
      const arrived = await fetch(location ?? '');
      assert.match(await arrived.text(), /you can close this page/);
      const { code, stdout, stderr } = await run;
      assert.deepEqual([code, stderr], [0, '']);
      const promised = /```text\n(.*?)```/s.exec(guide)?.[1];
      assert.equal(stdout, `Open this URL in a browser:\n\n  ${address}\n\n${promised}`);
    },
  );
});

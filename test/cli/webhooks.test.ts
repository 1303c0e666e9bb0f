/** "curd webhooks" and "curd events": output, effects and refusals. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { suite, type TestContext, test } from 'node:test';
import { openReceiver } from '../webhooks/receiver.ts';
import {
  accountWithKey,
  assertEachRefused,
  curd,
  curdJson,
  type Environment,
  freshShop,
  inShop,
  resultOf,
  runInProcess,
  start,
} from './run.ts';

async function shopWithEndpoint(t: TestContext, status = 204) {
  const shop = await freshShop(t);
  const { account } = await accountWithKey(shop);
  const receiver = await openReceiver(t, (response) => response.writeHead(status).end());
  return { shop, account, receiver };
}

const endpointsOf = (shop: Environment) =>
  inShop(shop, async ({ webhooks: { endpoints: webhookEndpoints } }) =>
    (await webhookEndpoints.list()).map((text) => JSON.parse(text)),
  );

suite('curd webhooks', () => {
  test('curd webhooks create, list, test and deliveries print what an operator needs', async (t) => {
    const { shop, account, receiver } = await shopWithEndpoint(t);
    const created = await curd(
      shop,
      ...['webhooks', 'create', receiver.url, '--account', account],
      ...['--types', 'order.*,cheese.created', '--description', 'Picking lists'],
    );
    assert.match(created.stdout, /^whsec_[A-Za-z0-9+/]{43}=\n$/);
    assert.match(created.stderr, /^This is the secret of endpoint 1\. Keep it: it is not shown again\.\n$/);

    const [listed] = await curdJson(shop, 'webhooks', 'list');
    assert.deepEqual(
      [listed.id, listed.account, listed.url, listed.types, listed.description, listed.status],
      [1, account, receiver.url, ['order.*', 'cheese.created'], 'Picking lists', 'enabled'],
    );
    const tested = await curd(shop, 'webhooks', 'test', '1');
    assert.match(tested.stdout, /^accepted with status 204 \(\d+ ms\)\n$/);
    assert.deepEqual(await curdJson(shop, 'webhooks', 'deliveries', '1', '--status', 'failed'), []);
    await inShop(shop, ({ webhooks: { endpoints: webhookEndpoints }, contextOf }) =>
      webhookEndpoints.update(contextOf('test'), 1, { url: 'http://127.0.0.1:1/' }),
    );
    const failed = await curd(shop, 'webhooks', 'test', '1', '--json');
    assert.deepEqual([failed.code, JSON.parse(failed.stdout).status], [2, null]);
  });

  test('curd webhooks disable, enable, rotate-secret, retry, replay and delete change what the API shows', async (t) => {
    const { shop, account, receiver } = await shopWithEndpoint(t);
    const run = (verb: string, args: readonly string[], options = {}) =>
      runInProcess(shop, `webhooks ${verb}`, args, options);
    await run('create', [receiver.url], { account, types: 'cheese.*' });
    await run('disable', ['1']);
    assert.equal((await endpointsOf(shop))[0].disabledReason, 'on_request');
    await inShop(shop, async ({ cheeses: { service: cheeses }, contextOf }) => {
      for (const name of ['Brie', 'Feta']) {
        await cheeses.create(contextOf('test'), { name });
      }
    });
    await run('enable', ['1'], { skip: true });
    await run('replay', ['1'], { since: 'earliest', types: 'cheese.created' });
    await run('rotate-secret', ['1'], { overlap: '1h' });
    const [endpoint] = await endpointsOf(shop);
    assert.deepEqual([endpoint.status, endpoint.waiting, endpoint.secrets.length], ['enabled', 2, 2]);
    await run('retry', ['1']);
    await run('deliver', ['1']);
    assert.equal((await endpointsOf(shop))[0].waiting, 2, 'what waits is not queued again');
    await assertEachRefused(t, [
      ['an unknown endpoint', () => run('deliver', ['9']), /no such webhook endpoint/],
      ['a second overlap', () => run('rotate-secret', ['1'], { overlap: '1h' }), /overlaps until/],
      ['an id that is none', () => run('enable', ['one']), /not the id of a webhook endpoint/],
      ['an unknown endpoint', () => run('delete', ['9']), /no such webhook endpoint/],
      ['an unknown delivery', () => run('retry', ['9']), /no such delivery/],
      ['an unknown status', () => run('deliveries', ['1'], { status: 'lost' }), /lost.*waiting, sending/],
      ['an unknown type', () => run('create', ['http://x/'], { account, types: 'wine.*' }), /types\[0\]/],
      [
        'an unknown account',
        () => run('create', ['http://x/'], { account: 'none' }),
        /no account named "none"/,
      ],
      ['another scheme', () => run('create', ['ftp://x/'], { account }), /url: must be an http/],
    ]);
    await run('delete', ['1']);
    assert.deepEqual(await endpointsOf(shop), []);
  });
});

suite('curd events', () => {
  test('curd events list prints the newest events, the oldest first, and those after a position', async (t) => {
    const shop = await freshShop(t);
    // No server has run yet.
    await inShop(shop, async ({ cheeses: { service: cheeses }, contextOf }) => {
      for (const name of ['Brie', 'Feta', 'Gouda']) {
        await cheeses.create(contextOf('test'), { name });
      }
    });
    await accountWithKey(shop);
    const two = await curd(shop, 'events', 'list', '--types', 'cheese.*', '--limit', '2', '--json');
    const events = two.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      events.map(({ sequence, data }) => [sequence, data.name]),
      [
        [2, 'Feta'],
        [3, 'Gouda'],
      ],
    );
    const after = await curd(shop, 'events', 'list', '--since', events[0].id);
    const [gouda, key, ...rest] = after.stdout.split('\n');
    assert.match(gouda ?? '', /^\S+Z evt_\w{4}_3 cheese\.created cheese:3 test \{"id":3,"name":"Gouda"/);
    assert.match(`${key}\n${rest.join('\n')}`, /api_key\.created/);
    await assertEachRefused(t, [
      ['an unknown type', () => runInProcess(shop, 'events list', [], { types: 'wine.*' }), /no such type/],
      ['a malformed position', () => runInProcess(shop, 'events list', [], { since: 'now' }), /since/],
    ]);
  });

  test('curd events tail prints events from now on, until a signal', async (t) => {
    const shop = await freshShop(t);
    await inShop(shop, ({ cheeses: { service: cheeses }, contextOf }) =>
      cheeses.create(contextOf('test'), { name: 'Brie' }),
    );
    const tail = start(['events', 'tail', '--types', 'cheese.created', '--json'], shop);
    t.after(() => tail.kill('SIGKILL'));
    const lines = createInterface(tail.stdout);
    const first = once(lines, 'line');
    const ended = resultOf(tail);
    let created = 0;
    // The command may still start: only later events are printed.
    const timer = setInterval(() => {
      created += 1;
      inShop(shop, ({ cheeses: { service: cheeses }, contextOf }) =>
        cheeses.create(contextOf('test'), { name: `Gouda ${created}` }),
      ).catch(() => {});
    }, 300);
    t.after(() => clearInterval(timer));
    const [line] = await first;
    clearInterval(timer);
    assert.match(JSON.parse(line).data.name, /^Gouda \d+$/);
    tail.kill('SIGINT');
    assert.equal((await ended).code, 0);
  });
});

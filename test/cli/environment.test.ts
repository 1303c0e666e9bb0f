/** The stored environment of a shop: settings of another one are refused, and "curd environment change" changes it. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { storeEnvironment } from '../../src/database/environment.ts';
import type { Engine } from '../../src/database/sql.ts';
import { sql } from '../../src/database/sql.ts';
import { restoreTestOrders } from '../../src/orders/test-orders.ts';
import { createDatabase, onBothEngines, secret } from '../context.ts';
import { assertError, openShop } from '../helper.ts';
import { environmentOf, openFilledShop } from './filled-shop.ts';
import {
  assertEachRefused,
  assertRefused,
  cheesesIn,
  curd,
  curdJson,
  type Environment,
  freshShop,
  inShop,
  runInProcess,
  serve,
} from './run.ts';

const forProduction = { CURD_ENVIRONMENT: 'production', CURD_PUBLIC_URL: 'https://shop.example' };

async function newShop(t: TestContext, engine: Engine): Promise<Environment> {
  const more = engine === 'postgres' ? { CURD_DATABASE: await createDatabase(t) } : {};
  return freshShop(t, { CURD_SECRET: secret, ...more });
}

const countTestOrders = (environment: Environment) =>
  inShop(environment, async ({ database }) => {
    const row = await database.get<{ orders: number; events: number }>(sql`
      select (select count(*) from orders where id <= 10) as orders,
        (select count(*) from event where subject in ('order:1', 'order:10')) as events`);
    return [row?.orders, row?.events];
  });

onBothEngines('A shop of one environment', (engine) => {
  test('A shop of one environment is refused by servers and commands with settings of another, and stays unchanged', async (t) => {
    const local = await newShop(t, engine);
    await (await serve(t, local)).stop();
    const production = { ...local, ...forProduction };
    assertRefused(await curd(production, 'serve'), /local shop/, /curd environment change production/);
    for (const args of [['keys', 'list', '--account', 'local'], ['orders', 'ship', '3'], ['doctor']]) {
      assertRefused(await curd(production, ...args), /This is a local shop.*CURD_ENVIRONMENT=local/);
    }
    assert.deepEqual(await curdJson(production, 'environment', 'show'), { environment: 'local' });
    assert.deepEqual(await countTestOrders(local), [10, 3]);
  });

  test('A shop of one environment changes to production without test orders and demo cheeses, first in a dry run', async (t) => {
    const local = await newShop(t, engine);
    await (await serve(t, local)).stop();
    const production = { ...local, ...forProduction };
    await inShop(local, async ({ cheeses: { service: cheeses }, contextOf }) => {
      await cheeses.create(contextOf('test'), { name: 'Ours' });
      const [first] = await cheesesIn(local);
      await cheeses.update(contextOf('test'), first?.id ?? 0, { status: 'sold' }, () => {});
    });
    const before = await cheesesIn(local);
    const change = { from: 'local', to: 'production', testOrdersRemoved: 10 };
    const trial = await curdJson(production, 'environment', 'change', 'production', '--dry-run');
    assert.deepEqual({ ...trial, ...change, dryRun: true }, trial);
    assert.deepEqual(await cheesesIn(local), before);
    assert.deepEqual(await countTestOrders(local), [10, 3]);

    const run = await curd(production, 'environment', 'change', 'production');
    assert.match(run.stdout, /local -> production[\s\S]*10 test orders and \d+ demo cheeses \(.*Paneer/);
    assert.equal(run.code, 0, run.stderr);
    assert.deepEqual(await countTestOrders(production), [0, 0]);
    // Cheeses that the operator created or changed stay.
    assert.deepEqual(
      (await cheesesIn(production)).map(({ name }) => name),
      ['Quark', 'Ours'],
    );
    assert.equal(trial.demoCheeses.removed.length, before.length - 2);
    assert.deepEqual(trial.remaining, { cheeses: 2, orders: 0, customers: 0 });
    assertRefused(await curd(local, 'keys', 'create', '--account', 'local'), /production shop/);
    const again = await curdJson(production, 'environment', 'change', 'production');
    assert.deepEqual(again, { ...trial, from: 'production', dryRun: false, testOrdersRemoved: 0, ...none });
    const { code, stdout } = await curd(production, 'doctor', '--json');
    assert.deepEqual([code, JSON.parse(stdout)[3]], [2, { check: 'catalogue', findings: [] }]);
  });
});

onBothEngines('A shop whose server runs', (engine) => {
  test('A shop keeps its environment while its server runs, because the server would not learn of another one', async (t) => {
    const local = await newShop(t, engine);
    const server = await serve(t, local);
    const production = { ...local, ...forProduction };
    const change = () => curd(production, 'environment', 'change', 'production');
    assertRefused(await change(), /server.*[Ss]top/);
    assert.deepEqual(await curdJson(production, 'environment', 'show'), { environment: 'local' });
    await server.stop();
    assert.equal((await change()).code, 0);
  });

  test('A production shop is not reset or restored by a server that was started before it became a production shop', async (t) => {
    const shop = await openShop(t, { engine });
    const { json: snapshot } = await shop.request('POST', '/v2/sandbox/snapshots', {
      as: shop.admin,
      body: { name: 'before' },
    });
    await storeEnvironment(shop.app.database, 'production');
    const reset = { as: shop.admin, body: { confirm: true } };
    assertError(await shop.request('POST', '/v2/sandbox/reset', reset), 409, 'conflict');
    const restore = `/v2/sandbox/snapshots/${snapshot.id}/restore`;
    assertError(await shop.request('POST', restore, { as: shop.admin }), 409, 'conflict');
    const cheese = { as: shop.admin, body: { name: 'Still here' } };
    assert.equal((await shop.request('POST', '/v2/cheeses', cheese)).status, 201);
  });
});

const none = { demoCheeses: { removed: [], kept: [] } };

test('A demo cheese in an active order is kept and reported', async (t) => {
  const local = await newShop(t, 'sqlite');
  const server = await serve(t, { ...local, CURD_APPROVAL_DELAY: '1h' });
  const { key } = await curdJson(local, 'keys', 'create', '--account', 'local', '--scope', 'admin');
  const place = async (cheeseId: number) => {
    const response = await fetch(`${server.url}/v2/store/order`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        items: [{ cheeseId, quantity: 1 }],
        shippingAddress: { street: 'Gasse 1', city: 'Bern', country: 'CH' },
      }),
    });
    return ((await response.json()) as { id: number }).id;
  };
  const [first] = await cheesesIn(local);
  const id = await place(first?.id ?? 0);
  await server.stop();
  await inShop(local, ({ orders: { service: orders }, contextOf }) => orders.approve(contextOf('test'), id));
  const { demoCheeses, remaining } = await curdJson(
    { ...local, ...forProduction },
    'environment',
    'change',
    'production',
  );
  assert.deepEqual(demoCheeses.kept, [first?.name]);
  assert.deepEqual([remaining.cheeses, remaining.orders], [1, 1]);
});

test('A command without the settings of a production shop is refused, and writes nothing', async (t) => {
  const production: Environment = { ...(await newShop(t, 'sqlite')), ...forProduction };
  await inShop(production, () => {});
  const folder = production.CURD_DATA_DIR ?? '';
  const before = readdirSync(folder);
  for (const args of [
    ['keys', 'create', '--account', 'shop'],
    ['doctor'],
    ['backup', 'shop.tar'],
    ['migrate'],
    ['serve', '--port', '0'],
  ]) {
    assertRefused(await curd({ CURD_DATA_DIR: folder }, ...args), /production shop.*settings are for local/);
  }
  assert.deepEqual(readdirSync(folder), before);
});

suite('Test orders in production', () => {
  test('Test orders in production are 404 on every path and cannot change status, even if the table contains them', async (t) => {
    const shop = await openShop(t, { settings: forProduction });
    await restoreTestOrders(shop.app.contextOf('system'));
    const id = 3;
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/timeline'],
      ['POST', '/approve'],
      ['POST', '/ship'],
      ['POST', '/deliver'],
    ] as const) {
      const url = `/v2/store/order/${id}${path}`;
      assertError(await shop.request(method, url, { as: shop.admin }), 404, 'not_found');
    }
    const environment = { ...environmentOf(shop), ...forProduction };
    for (const verb of ['approve', 'ship', 'deliver', 'cancel']) {
      assertRefused(await curd(environment, 'orders', verb, String(id)), /no order with the id 3/);
    }
    const { database } = shop.app;
    const row = await database.get<{ status: string }>(sql`select status from orders where id = ${id}`);
    assert.equal(row?.status, 'approved');
  });
});

test('A backup is restored only with settings of its environment, and not over a shop of another', async (t) => {
  const local = await newShop(t, 'sqlite');
  const production = { ...(await newShop(t, 'sqlite')), ...forProduction };
  const fileOf = (environment: Environment) => join(environment.CURD_DATA_DIR ?? '', 'backup.tar');
  for (const environment of [local, production]) {
    await inShop(environment, () => {});
    await curdJson(environment, 'backup', fileOf(environment));
  }
  const inProduction = { ...production, CURD_ENVIRONMENT: 'local' };
  await assertEachRefused(t, [
    [
      'of another',
      () => runInProcess(local, 'restore', [fileOf(production)]),
      /backup is of a production shop/,
    ],
    [
      'over another',
      () => runInProcess(inProduction, 'restore', [fileOf(local)]),
      /curd\.sqlite is a production/,
    ],
  ]);
  const { restored } = await curdJson(production, 'restore', fileOf(production), '--yes');
  assert.equal(restored, fileOf(production));
  assert.deepEqual(await curdJson(local, 'environment', 'show'), { environment: 'local' });
});

test('A copy has the environment of its source, and a reset keeps it', async (t) => {
  const sandbox = { ...(await newShop(t, 'sqlite')), CURD_ENVIRONMENT: 'sandbox' };
  await curdJson(sandbox, 'reset', '--yes');
  const url = await createDatabase(t);
  await curdJson(sandbox, 'copy', '--to', url);
  const copy = { ...sandbox, CURD_DATABASE: url };
  assert.deepEqual(await curdJson(copy, 'environment', 'show'), { environment: 'sandbox' });
  await curdJson(copy, 'reset', '--yes');
  assert.deepEqual(await curdJson(copy, 'environment', 'show'), { environment: 'sandbox' });
});

test('A change of the environment is refused without a shop, or with invalid settings', async (t) => {
  const shop = await newShop(t, 'sqlite');
  await assertEachRefused(t, [
    ['no shop', () => runInProcess(shop, 'environment change', ['sandbox']), /no shop at .* yet/],
    [
      'no environment',
      () => runInProcess(shop, 'environment change', ['staging']),
      /local, sandbox, production/,
    ],
  ]);
  await inShop(shop, () => {});
  await assert.rejects(
    runInProcess(shop, 'environment change', ['production']),
    /CURD_PUBLIC_URL is not set/,
  );
});

onBothEngines('Image URLs', (engine) => {
  test('Image URLs with a loopback host are reported by doctor and repaired by rebase, foreign ones stay', async (t) => {
    const { shop, cheeses, environment } = await openFilledShop(t, engine);
    const foreign = 'https://elsewhere.example/photo.jpg';
    const [first] = cheeses;
    const read = async () => (await shop.request('GET', `/v2/cheeses/${first}`, { as: shop.reader })).json;
    const { photoUrls } = await read();
    const { app } = shop;
    await app.cheeses.service.changePhotos(app.contextOf('test'), first, (urls) => [...urls, foreign]);
    const local = environment;
    const findings = async (settings: Environment) =>
      JSON.parse((await curd(settings, 'doctor', '--json')).stdout).find(
        ({ check }: { check: string }) => check === 'images',
      ).findings;
    assert.deepEqual(await findings(local), [], 'loopback URLs are right in local');

    await storeEnvironment(app.database, 'production');
    const production = { ...local, ...forProduction };
    const [finding] = await findings(production);
    assert.match(finding.fault, /image URLs/);
    assert.match(finding.remedy, /curd images rebase/);
    assert.equal(finding.count, 2);

    const { cheeses: changed, to } = await curdJson(production, 'images', 'rebase');
    assert.deepEqual([changed, to], [[...cheeses], 'https://shop.example/images/']);
    const name = photoUrls[0].split('/').at(-1);
    assert.deepEqual((await read()).photoUrls, [`https://shop.example/images/${name}`, foreign]);
    assert.deepEqual(await findings(production), []);
    assert.deepEqual((await curdJson(production, 'images', 'rebase')).cheeses, []);
  });
});

/** This version on a database that a newer version has migrated, as during an upgrade of several instances. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openDatabase } from '../../src/database/open.ts';
import { sql } from '../../src/database/sql.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { assertEachRefused, curd, freshShop, runInProcess, serve } from '../cli/run.ts';
import { breakingChanges } from '../gates/migrations.ts';
import { bern, onBothEngines, openShop } from '../helper.ts';
import { futureMigrations, migrateToFuture } from './newer-schema.ts';

onBothEngines('A shop on a newer schema', (engine) => {
  test('A shop on a newer schema creates a cheese, and places, delivers and lists orders', async (t) => {
    assert.deepEqual(breakingChanges(futureMigrations(engine).at(-1)?.script ?? ''), []);
    const shop = await openShop(t, { engine, isSchemaNewer: true });
    const { writer, admin } = shop;
    const cheese = await shop.request('POST', '/v2/cheeses', {
      as: writer,
      body: { name: 'Comté', pricePerKg: 41.5 },
    });
    assert.equal(cheese.status, 201, cheese.text);
    const items = [{ cheeseId: cheese.json.id, quantity: 2 }];
    const order = await shop.request('POST', '/v2/store/order', {
      as: admin,
      body: { items, shippingAddress: bern },
    });
    assert.equal(order.status, 201, order.text);
    const path = `/v2/store/order/${order.json.id}`;
    for (const step of ['approve', 'ship', 'deliver']) {
      const moved = await shop.request('POST', `${path}/${step}`, { as: admin });
      assert.equal(moved.status, 200, moved.text);
    }
    const orders = await shop.request('GET', '/v2/store/orders?status=delivered', { as: admin });
    assert.ok(orders.json.items.some(({ id }: { id: number }) => id === order.json.id));
    const { database } = shop.app;
    const tally = await database.get<{ orders: number }>(sql`select orders from order_tally`);
    assert.ok(tally !== undefined && tally.orders > 0, 'the trigger of the newer version does not run');
  });
});

suite('On a newer schema', () => {
  test('On a newer schema, the server starts with one warning, and changes nothing that a newer version sees', async (t) => {
    const environment = await freshShop(t, { CURD_LOG_LEVEL: 'warn' });
    await curd(environment, 'migrate');
    const place = loadConfig(environment);
    assert.deepEqual(await migrateToFuture(place), ['of-the-future']);
    const newer = await openDatabase(place);
    const dueAt = '2026-01-01T00:00:00.000Z';
    await newer.run(sql`insert into background_job (kind, key, due_at) values ('gift.wrap', '1', ${dueAt})`);
    await newer.close();
    const server = await serve(t, environment);
    const headers = { 'X-API-Key': server.firstKey ?? '' };
    assert.equal((await fetch(`${server.url}/v2/store/order/7`, { headers })).status, 200);
    const { code, stderr } = await server.stop();
    assert.equal(code, 0);
    const [line = '', ...rest] = stderr.trim().split('\n');
    assert.deepEqual(rest, []);
    const warning = JSON.parse(line);
    assert.equal(warning.level, 'warn');
    assert.equal(warning.database, 9999);
    assert.ok(warning.program < 9999);
    assert.deepEqual(await migrateToFuture(place), [], 'the newer version starts again');
    const doctor = await curd(environment, 'doctor');
    assert.equal(doctor.code, 0, doctor.stdout);
    assert.match((await curd(environment, 'migrate')).stdout, /at migration 9999, newer than/);

    const backup = `${environment.CURD_DATA_DIR}/newer.tar`;
    await curd(environment, 'backup', backup);
    const other = await freshShop(t);
    await curd(other, 'migrate');
    const advice = /9999.*of the newer version/;
    await assertEachRefused(t, [
      [
        'copy from it',
        () => runInProcess(environment, 'copy', [], { to: 'sqlite:/tmp/never.sqlite' }),
        advice,
      ],
      [
        'copy into it',
        () =>
          runInProcess(other, 'copy', [], {
            to: `sqlite:${environment.CURD_DATA_DIR}/curd.sqlite`,
          }),
        advice,
      ],
      ['reset', () => runInProcess(environment, 'reset', [], { yes: true }), advice],
      ['doctor --repair', () => runInProcess(environment, 'doctor', [], { repair: true }), advice],
      ['restore of its backup', () => runInProcess(other, 'restore', [backup]), advice],
    ]);
    const database = await openDatabase(place);
    await database.run(sql`update migration set breaking = 1 where number = 9999`);
    await database.close();
    await assertEachRefused(t, [
      [
        'serve after a breaking migration',
        () => runInProcess(environment, 'serve'),
        /9999 \(of-the-future\).*start the newer version/,
      ],
      [
        'migrate after a breaking migration',
        () => runInProcess(environment, 'migrate'),
        /start the newer version/,
      ],
    ]);
  });
});

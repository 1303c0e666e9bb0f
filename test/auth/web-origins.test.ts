/** A key that is no publishable one, and is used from a web page: it is served, and operators are warned once a day. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWebOrigins } from '../../src/auth/keys/web-origins.ts';
import { timestamp } from '../../src/clock.ts';
import { sql } from '../../src/database/sql.ts';
import { onBothEngines, openShop, type Shop, shared, type TestClock, testClock, until } from '../helper.ts';

const page = 'https://shop.example';
const dayMs = 24 * 60 * 60_000;

onBothEngines('A key in a web page', (engine) => {
  const open = shared(async (t): Promise<Shop & { clock: TestClock }> => {
    const clock = testClock();
    return { ...(await openShop(t, { engine, clock })), clock };
  });

  async function shown(key: string): Promise<Record<string, unknown>> {
    const shop = open();
    await shop.app.maintenance.run();
    const row = (await shop.app.database.get<{ name: string }>(sql`
      select a.name from api_key k join account a on a.id = k.account_id where k.last4 = ${key.slice(-4)}`)) as {
      name: string;
    };
    const { json } = await shop.request('GET', `/v2/api-keys?account=${row.name}`, { as: shop.admin });
    return json.items.find(({ last4 }: { last4: string }) => key.endsWith(last4));
  }

  const read = (headers: Readonly<Record<string, string>>) =>
    open().request('GET', '/v2/cheeses', { headers });

  test('A key in a web page is served, and its row names the page and the time, once a day', async () => {
    const { clock, createKey } = open();
    for (const key of [
      await createKey(),
      await createKey({ kind: 'restricted', scopes: ['read:cheeses'] }),
    ]) {
      const at = timestamp(clock.now());
      assert.equal((await read({ 'x-api-key': key, origin: page })).status, 200);
      const { webOrigin, webOriginAt } = await shown(key);
      assert.deepEqual([webOrigin, webOriginAt], [page, at]);

      clock.advance(dayMs - 1000);
      await read({ authorization: `Bearer ${key}`, origin: 'https://other.example' });
      assert.equal((await shown(key)).webOrigin, page);
      clock.advance(1000);
      await read({ authorization: `Bearer ${key}`, origin: 'https://other.example' });
      const later = await shown(key);
      assert.deepEqual(
        [later.webOrigin, later.webOriginAt],
        ['https://other.example', timestamp(clock.now())],
      );
    }
  });

  test('A key in a web page is stored within seconds of its first use, and not by the next maintenance', async () => {
    const { app, createKey } = open();
    const key = await createKey();
    const startedAt = performance.now();
    await read({ 'x-api-key': key, origin: page });
    await until(async () => {
      const row = await app.database.get<{ web_origin: string | null }>(
        sql`select web_origin from api_key where last4 = ${key.slice(-4)} order by id desc limit 1`,
      );
      return row?.web_origin === page;
    }, 'the page is not stored');
    assert.ok(performance.now() - startedAt < 15_000);
  });

  test('A key in a web page is not shown without a page, for a publishable key, and for a text that is no origin', async () => {
    const { createKey } = open();
    const publishable = await createKey({ kind: 'publishable' });
    await read({ 'x-api-key': publishable, origin: page });
    const key = await createKey();
    await read({ 'x-api-key': key });
    for (const origin of [
      'null',
      '',
      'shop.example',
      `${page}/path`,
      'javascript:alert(1)',
      'https://a@b.example',
      `https://${'x'.repeat(250)}.example`,
      `${page}, ${page}`,
    ]) {
      assert.equal((await read({ 'x-api-key': key, origin })).status, 200, origin);
    }
    for (const one of [publishable, key]) {
      const row = await shown(one);
      assert.ok(row.lastUsedAt !== null);
      assert.deepEqual([row.webOrigin, row.webOriginAt], [undefined, undefined]);
    }
  });

  test('A key in a web page is logged by one instance, once a day, and is not forgotten when it cannot be stored', async () => {
    const { app, clock, createKey } = open();
    const { database } = app;
    await createKey();
    const { id } = (await database.get<{ id: number }>(sql`select max(id) as id from api_key`)) as {
      id: number;
    };
    const lines: unknown[] = [];
    const log = { warn: (facts: object, message: string) => lines.push([facts, message]) } as never;
    const [one, other] = [
      createWebOrigins({ database, clock, log, onNew: () => {} }),
      createWebOrigins({ database, clock, log, onNew: () => {} }),
    ];
    one.note(id, page);
    one.note(id, 'https://later.example');
    other.note(id, 'https://other.example');
    await database.exclusiveTransaction((_sql, run) => run('alter table api_key rename to elsewhere'));
    await assert.rejects(one.flush());
    await database.exclusiveTransaction((_sql, run) => run('alter table elsewhere rename to api_key'));
    assert.deepEqual(lines, []);
    await one.flush();
    await other.flush();
    await one.flush();
    const line = [
      { principal: `key:${id}`, origin: page },
      `this key is used from a web page: ${page}; rotate it`,
    ];
    assert.deepEqual(lines, [line]);
    clock.advance(dayMs);
    other.note(id, page);
    await other.flush();
    assert.deepEqual(lines, [line, line]);
  });
});

/** Servers that start at the same instant on a database where nothing is yet. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { listMigrations } from '../../src/database/migrate.ts';
import { sql } from '../../src/database/sql.ts';
import { curdJson, freshShop, serve } from '../cli/run.ts';
import { cleanUp, createDatabase } from '../context.ts';

suite('Three servers that start at once on an empty database', () => {
  test('all come up, with one schema, one catalogue and the orders for testing', async (t) => {
    const shared = {
      CURD_DATABASE: await createDatabase(t),
      CURD_SECRET: 'a secret that is only good for tests',
      CURD_ENVIRONMENT: 'sandbox',
    };
    const environments = await Promise.all([1, 2, 3].map(() => freshShop(t, shared)));
    const servers = await Promise.all(environments.map((environment) => serve(t, environment)));
    const [environment = {}] = environments;
    await curdJson(environment, 'accounts', 'create', 'shop');
    const { key } = await curdJson(environment, 'keys', 'create', '--account', 'shop');
    const totals = new Set<number>();
    for (const { url } of servers) {
      const read = async (path: string) => {
        const response = await fetch(`${url}/v2${path}`, { headers: { 'X-API-Key': key } });
        assert.equal(response.status, 200);
        // biome-ignore lint/suspicious/noExplicitAny: the test knows what to expect in it.
        return (await response.json()) as any;
      };
      const { items, total } = await read('/cheeses?limit=100');
      totals.add(total);
      assert.equal(new Set(items.map(({ name }: { name: string }) => name)).size, total);
      for (const [order, steps] of [
        [1, 1],
        [7, 4],
      ] as const) {
        assert.equal((await read(`/store/order/${order}/timeline`)).items.length, steps, 'each once');
      }
    }
    assert.equal(totals.size, 1);
    assert.ok(Math.max(...totals) > 50);
    for (const server of servers) {
      assert.deepEqual(await server.stop(), { code: 0, stderr: '' });
    }
  });

  test('bring it to its schema once, however close they are', async (t) => {
    const config = loadConfig(
      await freshShop(t, {
        CURD_DATABASE: await createDatabase(t),
        CURD_SECRET: 'a secret that is only good for tests',
      }),
    );
    const apps = await Promise.all(
      [1, 2, 3].map(async () => {
        const app = await buildApp(config);
        cleanUp(t, () => app.close());
        return app;
      }),
    );
    const rows = await apps[0]?.services.database.all(sql`select number from migration`);
    assert.equal(rows?.length, listMigrations('postgres').length);
  });
});

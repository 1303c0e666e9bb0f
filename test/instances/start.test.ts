/** Servers that start at the same time on an empty database. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { buildApp } from '../../src/app/build-app.ts';
import { listMigrations } from '../../src/database/migrate.ts';
import { sql } from '../../src/database/sql.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { curd, curdProcess, freshShop, serve } from '../cli/run.ts';
import { cleanUp, createDatabase, secret, temporaryFolder } from '../context.ts';

suite('Three servers that start in parallel on an empty database', () => {
  test('Three servers that start in parallel on an empty database have one schema, catalogue, first API key and set of test orders', async (t) => {
    const shared = {
      CURD_DATABASE: await createDatabase(t),
      CURD_SECRET: secret,
      CURD_IMAGES: `file:${await temporaryFolder(t)}`,
    };
    const servers = await Promise.all(
      Array.from({ length: 3 }, async () => serve(t, await freshShop(t, shared))),
    );
    const keys = servers.flatMap(({ greeting }) => /^ {2}(sk_\S+)$/m.exec(greeting)?.[1] ?? []);
    assert.equal(keys.length, 1, 'shown once, by one of them');
    const [key = ''] = keys;
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

  test('Three servers that start in parallel on an empty database migrate it once', async (t) => {
    const config = loadConfig(
      await freshShop(t, {
        CURD_DATABASE: await createDatabase(t),
        CURD_SECRET: secret,
      }),
    );
    const apps = await Promise.all(
      [1, 2, 3].map(async () => {
        const app = await buildApp(config);
        cleanUp(t, () => app.close());
        return app;
      }),
    );
    const rows = await apps[0]?.database.all(sql`select number from migration`);
    assert.equal(rows?.length, listMigrations('postgres').length);
  });
});

suite('A server with another folder of images', () => {
  test('A server with another folder of images does not start while an instance runs, and doctor names the cause', async (t) => {
    const shared = {
      CURD_DATABASE: await createDatabase(t),
      CURD_SECRET: secret,
      CURD_ENVIRONMENT: 'production',
      CURD_PUBLIC_URL: 'https://shop.example',
      CURD_TRUSTED_PROXIES: '127.0.0.1',
    };
    const environment = await freshShop(t, shared);
    const server = await serve(t, environment);
    const other = await freshShop(t, shared);
    const refused = await curdProcess(other, 'serve', '--port', '0');
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /The instance \S+ of this shop stores its images elsewhere.+Set CURD_IMAGES of all instances to the same bucket, or to a folder that they share\.\n$/,
    );
    const doctor = await curd(other, 'doctor');
    assert.match(doctor.stdout, /^FAULT {3}instances: instances that do not store images where CURD_IMAGES/m);
    const onSharing = { ...other, CURD_IMAGES: `file:${join(environment.CURD_DATA_DIR ?? '', 'images')}` };
    const { code, stdout } = await curd(onSharing, 'doctor');
    assert.deepEqual([code, /^ok {6}instances$/m.test(stdout)], [0, true], stdout);
    await server.stop();
    // The instance that stopped has deleted its row.
    await (await serve(t, other)).stop();
  });
});

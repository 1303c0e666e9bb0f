/** One server for each SQLite database, unless the operator allows a second one. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { createDatabase, secret } from '../context.ts';
import { assertRefused, curd, curdJson, freshShop, serve } from './run.ts';

test('A second server on an SQLite database', async (t) => {
  const shop = await freshShop(t);
  const first = await serve(t, shop);

  await t.test(
    'A second server on an SQLite database is refused in one sentence, and the first server continues',
    async () => {
      assertRefused(
        await curd(shop, 'serve', '--port', '0'),
        /Another server has .*curd\.sqlite open\. Stop it first.*--allow-second-server/,
      );
      // The same database from another data folder.
      const database = `sqlite:${shop.CURD_DATA_DIR}/curd.sqlite`;
      const elsewhere = await freshShop(t, { CURD_DATABASE: database });
      assertRefused(await curd(elsewhere, 'serve', '--port', '0'), /--allow-second-server/);
      assert.equal(await first.statusFor(first.firstKey ?? ''), 200);
    },
  );

  await t.test(
    'A second server on an SQLite database does not start, while commands run beside a server',
    async () => {
      const accounts = await curdJson(shop, 'accounts', 'list');
      // The start made a link to the console, which has an account.
      assert.deepEqual(accounts.map(({ name }: { name: string }) => name).sort(), ['console', 'local']);
      assert.equal((await curdJson(shop, 'backup', 'shop.tar')).missing.length, 0);
      const link = await curd(shop, 'console', '--port', '8190');
      assert.match(link.stdout, /^http:\/\/127\.0\.0\.1:8190\/console#link=/);
      assert.match(link.stderr, /It is for a server on port 8190: .* repeat its --port here\./);
      const change = await curd(shop, 'environment', 'change', 'sandbox', '--secret', secret);
      assertRefused(change, /A server has .*curd\.sqlite open/);
    },
  );

  await t.test('A second server on an SQLite database starts with --allow-second-server', async () => {
    const second = await serve(t, shop, [], ['--allow-second-server']);
    assert.equal(await second.statusFor(first.firstKey ?? ''), 200);
    await second.stop();
    assertRefused(await curd(shop, 'serve', '--port', '0'), /--allow-second-server/);
  });

  await t.test(
    'A second server on an SQLite database starts as soon as the first was killed or has stopped',
    async () => {
      await first.stop('SIGKILL');
      const next = await serve(t, shop);
      await next.stop();
      const last = await serve(t, shop);
      await last.stop();
      const extra = readdirSync(shop.CURD_DATA_DIR ?? '').filter((name) => /server/.test(name));
      assert.deepEqual(extra, ['curd.sqlite-server']);
    },
  );
});

test('Several servers on one PostgreSQL start without an option', async (t) => {
  const shared = { CURD_SECRET: secret, CURD_DATABASE: await createDatabase(t, 'template_curd') };
  const shop = await freshShop(t, shared);
  await serve(t, shop);
  const second = await serve(t, shop);
  assert.equal((await second.stop()).code, 0);
});

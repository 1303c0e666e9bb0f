/** Servers that start at the same instant on a database where nothing is yet. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { freshShop, serve } from '../cli/run.ts';
import { createDatabase } from '../context.ts';

suite('Three servers that start at once on an empty database', () => {
  test('all come up, with one catalogue and one first key between them', async (t) => {
    const shared = {
      CURD_DATABASE: await createDatabase(t),
      CURD_SECRET: 'a secret that is only good for tests',
    };
    const servers = await Promise.all(
      Array.from({ length: 3 }, async () => serve(t, await freshShop(t, shared))),
    );
    const keys = servers.flatMap(({ greeting }) => /^ {2}(sk_\S+)$/m.exec(greeting)?.[1] ?? []);
    assert.equal(keys.length, 1, 'shown once, by one of them');
    const totals: number[] = [];
    for (const { url } of servers) {
      const response = await fetch(`${url}/v2/cheeses?limit=1`, { headers: { 'X-API-Key': keys[0] ?? '' } });
      assert.equal(response.status, 200);
      totals.push(((await response.json()) as { total: number }).total);
    }
    assert.ok((totals[0] ?? 0) > 50);
    assert.equal(new Set(totals).size, 1);
    for (const server of servers) {
      assert.deepEqual(await server.stop(), { code: 0, stderr: '' });
    }
  });
});

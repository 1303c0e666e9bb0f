/** The last use of keys is stored once a minute, and later when that fails. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyResolver } from '../../src/auth/keys/resolver.ts';
import { createWebOrigins } from '../../src/auth/keys/web-origins.ts';
import { sql } from '../../src/database/sql.ts';
import { createLog } from '../../src/log.ts';
import { onBothEngines, openShop, testClock } from '../helper.ts';

onBothEngines('The last use of a key', (engine) => {
  test('The last use of a key is not forgotten when it cannot be written down at once', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const { database } = shop.app;
    const { resolve, flushLastUsed } = createKeyResolver({
      database,
      clock,
      environment: 'local',
      webOrigins: createWebOrigins({ database, clock, log: createLog('silent'), onNew: () => {} }),
    });
    await resolve({ place: 'x-api-key', text: shop.reader });
    await database.exclusiveTransaction((_sql, run) => run('alter table api_key rename to elsewhere'));
    await assert.rejects(flushLastUsed());
    await database.exclusiveTransaction((_sql, run) => run('alter table elsewhere rename to api_key'));
    await flushLastUsed();
    const used = await database.all(sql`select last_used_at from api_key where last_used_at is not null`);
    assert.equal(used.length, 1);
  });
});

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { endure, openFleet, requireAlive, times } from './endure.ts';

const outageMs = 600;

suite('Three servers on one PostgreSQL', () => {
  test('go on after their database was gone', { timeout: (times + 1) * 60_000 }, async (t) => {
    const fleet = await openFleet(t);
    const { database, servers } = fleet;

    for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
      await t.test(`when the database is stopped by ${signal} and started again`, async () => {
        await endure(fleet, async () => {
          await database.stop(signal);
          await sleep(outageMs);
          for (const server of servers) {
            await requireAlive(server);
            assert.equal((await fetch(`${server.url}/readyz`)).status, 503);
          }
          await database.start();
        });
      });
    }

    await t.test('when all their connections are cut, again and again', async () => {
      await endure(fleet, async () => {
        for (let cut = 0; cut < 8; cut += 1) {
          await database.ask(
            `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'curd'`,
          );
          await sleep(50 + 20 * cut);
        }
      });
    });

    for (const server of servers) {
      assert.deepEqual(await server.stop(), { code: 0, stderr: '' });
    }
  });
});

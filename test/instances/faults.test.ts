/** Faults of three servers: a server, a connection, the database. The invariants are in endure.ts. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningServer, serve } from '../cli/run.ts';
import { bern, until } from '../context.ts';
import { endure, type Fleet, openFleet, requireAlive, times } from './endure.ts';

const outageMs = 600;

suite('Three servers on one PostgreSQL', () => {
  test('Three servers on one PostgreSQL recover from each fault', {
    timeout: (times + 1) * 120_000,
  }, async (t) => {
    const fleet = await openFleet(t);
    const { database, servers, environments, gone } = fleet;

    await t.test(
      'Three servers on one PostgreSQL recover when the result of a commit is unknown',
      async () => {
        await unknownOutcome(fleet);
      },
    );

    await t.test(
      'Three servers on one PostgreSQL recover when one of them is killed, and comes back',
      async () => {
        let victim = 0;
        await endure(
          fleet,
          async () => {
            victim = (victim + 1) % servers.length;
            assert.equal((await servers[victim]?.stop('SIGKILL'))?.stderr, '');
            // The load balancer notices after a moment.
            await sleep(50);
            gone.add(victim);
            servers[victim] = await serve(t, environments[victim] ?? {});
            gone.delete(victim);
          },
          true,
        );
      },
    );

    for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
      await t.test(
        `Three servers on one PostgreSQL recover when the database is stopped by ${signal} and started again`,
        async () => {
          await endure(fleet, async () => {
            await database.stop(signal);
            await sleep(outageMs);
            for (const server of servers) {
              await requireAlive(server);
              assert.equal((await fetch(`${server.url}/readyz`)).status, 503);
            }
            await database.start();
          });
        },
      );
    }

    await t.test(
      'Three servers on one PostgreSQL recover when all their connections are cut, again and again',
      async () => {
        await endure(fleet, async () => {
          for (let cut = 0; cut < 8; cut += 1) {
            await database.ask(
              `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'curd'`,
            );
            await sleep(50 + 20 * cut);
          }
        });
      },
    );

    for (const server of servers) {
      assert.deepEqual(await server.stop(), { code: 0, stderr: '' });
    }
  });
});

/** Commits wait for a replica that does not exist: they are done, but their connections are cut before the response. */
async function unknownOutcome({ database: { ask }, servers, key, cheeseIds }: Fleet): Promise<void> {
  const keys = servers.map(() => randomUUID());
  const send = (server: RunningServer | undefined, notes: string) =>
    fetch(`${server?.url}/v2/store/order`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json', 'Idempotency-Key': notes },
      body: JSON.stringify({
        items: [{ cheeseId: cheeseIds[0], quantity: 1 }],
        shippingAddress: bern,
        notes,
      }),
    });
  // The first order of a shop fixes its currency, and the next ones wait for its commit.
  await ask('update shop_profile set currency_fixed = 1');
  const waiting = `from pg_stat_activity where application_name = 'curd' and wait_event = 'SyncRep'`;
  await ask(`alter system set synchronous_standby_names = 'nobody'`, 'select pg_reload_conf()');
  await sleep(200);
  try {
    const sent = servers.map((server, index) => send(server, keys[index] ?? ''));
    await until(async () => (await ask(`select 1 ${waiting}`)).length === servers.length, 'no commit waits');
    await ask(`select pg_terminate_backend(pid) ${waiting}`);
    for (const response of await Promise.all(sent)) {
      // A server whose connection broke looks for the stored response, and may find it this soon.
      assert.ok(
        response.status === 503 || response.headers.has('idempotency-replayed'),
        await response.text(),
      );
      assert.ok(response.status === 201 || Number(response.headers.get('retry-after')) > 0);
    }
  } finally {
    await ask('alter system reset synchronous_standby_names', 'select pg_reload_conf()');
  }
  await sleep(200);
  for (const [index, notes] of keys.entries()) {
    const response = await send(servers[(index + 1) % servers.length], notes);
    assert.equal(response.status, 201, await response.text());
    assert.equal(response.headers.get('idempotency-replayed'), 'true');
  }
  const made = await ask('select notes from orders where id > 10');
  assert.deepEqual(made.map(({ notes }) => notes).toSorted(), keys.toSorted());
  await until(async () => (await ask('select 1 from background_job')).length === 0, 'orders wait');
  await ask('delete from open_order_cheese', 'delete from orders where id > 10');
}

/** "curd events": output and refusals. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { suite, test } from 'node:test';
import {
  accountWithKey,
  assertEachRefused,
  curd,
  freshShop,
  inShop,
  resultOf,
  runInProcess,
  start,
} from './run.ts';

suite('curd events', () => {
  test('curd events list prints the newest events, the oldest first, and those after a position', async (t) => {
    const shop = await freshShop(t);
    // No server has run yet.
    await inShop(shop, async ({ cheeses: { service: cheeses }, contextOf }) => {
      for (const name of ['Brie', 'Feta', 'Gouda']) {
        await cheeses.create(contextOf('test'), { name });
      }
    });
    await accountWithKey(shop);
    const two = await curd(shop, 'events', 'list', '--types', 'cheese.*', '--limit', '2', '--json');
    const events = two.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      events.map(({ sequence, data }) => [sequence, data.name]),
      [
        [2, 'Feta'],
        [3, 'Gouda'],
      ],
    );
    const after = await curd(shop, 'events', 'list', '--since', events[0].id);
    const [gouda, key, ...rest] = after.stdout.split('\n');
    assert.match(gouda ?? '', /^\S+Z evt_\w{4}_3 cheese\.created cheese:3 test \{"id":3,"name":"Gouda"/);
    assert.match(`${key}\n${rest.join('\n')}`, /api_key\.created/);
    await assertEachRefused(t, [
      ['an unknown type', () => runInProcess(shop, 'events list', [], { types: 'wine.*' }), /no such type/],
      ['a malformed position', () => runInProcess(shop, 'events list', [], { since: 'now' }), /since/],
    ]);
  });

  test('curd events tail prints events from now on, until a signal', async (t) => {
    const shop = await freshShop(t);
    await inShop(shop, ({ cheeses: { service: cheeses }, contextOf }) =>
      cheeses.create(contextOf('test'), { name: 'Brie' }),
    );
    const tail = start(['events', 'tail', '--types', 'cheese.created', '--json'], shop);
    t.after(() => tail.kill('SIGKILL'));
    const lines = createInterface(tail.stdout);
    const first = once(lines, 'line');
    const ended = resultOf(tail);
    let created = 0;
    // The command may still start: only later events are printed.
    const timer = setInterval(() => {
      created += 1;
      inShop(shop, ({ cheeses: { service: cheeses }, contextOf }) =>
        cheeses.create(contextOf('test'), { name: `Gouda ${created}` }),
      ).catch(() => {});
    }, 300);
    t.after(() => clearInterval(timer));
    const [line] = await first;
    clearInterval(timer);
    assert.match(JSON.parse(line).data.name, /^Gouda \d+$/);
    tail.kill('SIGINT');
    assert.equal((await ended).code, 0);
  });
});

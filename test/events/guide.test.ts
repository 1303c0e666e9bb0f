/** docs/events.md is true: its list of types, its requests, its example, and its way to start again. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { eventTypes } from '../../src/app/event-types.ts';
import { shared, until } from '../context.ts';
import { openListeningShop } from '../helper.ts';
import { openStream } from './streams.ts';

const guide = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
const requests = [
  ...guide.matchAll(/^curl (-N )?-H "X-API-Key: \$KEY" "http:\/\/127\.0\.0\.1:8080([^"]+)"$/gm),
];

suite('The guide to events', () => {
  const opened = shared((t) => openListeningShop(t));

  test('The guide to events names every type, by subject', () => {
    const rows = [...guide.matchAll(/^\| `([a-z_]+)(?::[A-Za-z0-9]+)?` \| (.+) \|$/gm)];
    const named = rows.flatMap(([, , types = '']) =>
      [...types.matchAll(/`([^`]+)`/g)].map(([, type]) => type),
    );
    assert.deepEqual(named.sort(), [...eventTypes.names].sort());
  });

  test('The guide to events has requests that work, and an example with the members of a page', async (t) => {
    const shop = opened();
    assert.deepEqual(
      requests.map(([, stream]) => stream !== undefined),
      [false, true],
    );
    const [list = '', stream = ''] = requests.map(([, , url]) => url);
    const { json } = await shop.request('GET', list, { as: shop.admin });
    const [, example = ''] = /```json\n([\s\S]*?)```/.exec(guide) ?? [];
    const shown = JSON.parse(example);
    assert.deepEqual(Object.keys(json), Object.keys(shown));
    assert.deepEqual(Object.keys(json.items[0]), Object.keys(shown.items[0]));
    const live = await openStream(t, shop, stream.slice(stream.indexOf('?')));
    assert.equal(live.status, 200);
    await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Brie' } });
    await until(async () => live.blocks.length === 1, 'the stream has no event');
    live.close();
  });

  test('The guide to events shows how to start again after a 410', async () => {
    const shop = opened();
    const [, steps = ''] = /To start again:\n\n([\s\S]*?)\n\n/.exec(guide) ?? [];
    const [, url = ''] = /`GET (\/v2\/events[^`]*)`/.exec(steps) ?? [];
    const { json } = await shop.request('GET', url, { as: shop.admin });
    await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Feta' } });
    const rest = await shop.request('GET', `/v2/events?since=${json.next}`, { as: shop.admin });
    assert.deepEqual(
      rest.json.items.map(({ type }: { type: string }) => type),
      ['cheese.created'],
    );
  });
});

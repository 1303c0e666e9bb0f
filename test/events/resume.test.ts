/**
 * A stream that is cut at random bytes and resumed at either of two instances has every event once. CURD_TEST_CUTS says
 * how many times it is cut.
 */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { onBothEngines, until } from '../context.ts';
import { type ListeningShop, openListeningShop } from '../helper.ts';
import { listSequences, openStream, untilNumbered } from './streams.ts';

const cuts = Number(process.env.CURD_TEST_CUTS ?? 15);
/** Less than the events that come between two cuts. */
const bytesMax = 6000;

/** A second instance on PostgreSQL; on SQLite there is one server. */
async function openInstances(shop: ListeningShop): Promise<ListeningShop[]> {
  if (shop.app.database.engine === 'sqlite') {
    return [shop];
  }
  const second = await shop.another();
  await second.app.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = second.app.server.server.address() as AddressInfo;
  return [shop, { ...second, port, url: `http://127.0.0.1:${port}` }];
}

onBothEngines('A stream that is cut', (engine) => {
  test('An event stream that is cut, and resumed with the last complete id has every event once', async (t) => {
    const shop = await openListeningShop(t, { engine });
    const instances = await openInstances(shop);
    let isWriting = true;
    const writing = (async () => {
      for (let count = 0; isWriting; count += 1) {
        const writer = instances[count % instances.length] ?? shop;
        const name = `Cheese ${count}`;
        const response = await writer.request('POST', '/v2/cheeses', { as: shop.writer, body: { name } });
        assert.equal(response.status, 201);
      }
    })();
    const sequences: number[] = [];
    let lastId = '';
    for (let cut = 0; cut < cuts; cut += 1) {
      const instance = instances[cut % instances.length] ?? shop;
      const place = lastId === '' ? '?since=earliest' : '';
      const headers: Record<string, string> = lastId === '' ? {} : { 'last-event-id': lastId };
      const bytes = 1 + Math.floor(Math.random() * bytesMax);
      const stream = await openStream(t, instance, place, headers, shop.admin, bytes);
      assert.equal(stream.status, 200);
      await until(async () => stream.isEnded(), 'the stream is not cut');
      sequences.push(...stream.blocks.map(({ data }) => data.sequence));
      lastId = stream.lastId() === '' ? lastId : stream.lastId();
    }
    isWriting = false;
    await writing;
    await untilNumbered(shop);
    const all = await listSequences(shop);
    const rest = await openStream(t, shop, lastId === '' ? '?since=earliest' : '', {
      'last-event-id': lastId,
    });
    await until(async () => sequences.length + rest.blocks.length >= all.length, 'events are missing');
    sequences.push(...rest.blocks.map(({ data }) => data.sequence));
    assert.deepEqual(sequences, all);
    assert.deepEqual(
      all,
      all.map((_, index) => index + 1),
    );
    rest.close();
  });
});

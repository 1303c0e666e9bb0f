/** The event log as a stream: order, resuming, credentials that end, and limits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, shared, until } from '../context.ts';
import { type ListeningShop, openListeningShop } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';
import { type OpenStream, openStream } from './streams.ts';

/** Creates cheeses. @returns the subjects of their events */
async function createSubjects(shop: ListeningShop, count: number): Promise<string[]> {
  const subjects: string[] = [];
  while (subjects.length < count) {
    subjects.push(`cheese:${await newCheese(shop)}`);
  }
  return subjects;
}

onBothEngines('GET /v2/events/stream', (engine) => {
  const opened = shared((t) => openListeningShop(t, { engine, settings: { CURD_STREAMS_PER_ACCOUNT: '3' } }));

  test('GET /v2/events/stream sends missed events first, then new ones, and resumes without a gap or a repetition', async (t) => {
    const shop = opened();
    const missed = await createSubjects(shop, 3);
    const first = await openStream(t, shop, '?since=earliest&types=cheese.created');
    assert.equal(first.status, 200);
    assert.match(first.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.equal(first.headers.get('cache-control'), 'no-store');
    assert.equal(first.headers.get('content-encoding'), null);
    await until(async () => first.blocks.length >= 3, 'missed events do not come');
    const live = await createSubjects(shop, 2);
    await until(async () => first.blocks.length >= 5, 'new events do not come');
    assert.deepEqual(
      first.blocks.map(({ data }) => data.subject),
      [...missed, ...live],
    );
    assert.ok(first.blocks.every(({ id, event, data }) => id === data.id && event === 'cheese.created'));
    first.close();
    const more = await createSubjects(shop, 2);
    const headers = { 'last-event-id': first.blocks[3]?.id ?? '' };
    const second = await openStream(t, shop, '?since=earliest&types=cheese.created', headers);
    await until(async () => second.blocks.length >= 3, 'the stream does not resume');
    assert.deepEqual(
      second.blocks.map(({ data }) => data.subject),
      [live[1], ...more],
    );
    second.close();
  });

  test('GET /v2/events/stream begins with new events unless a position is given', async (t) => {
    const shop = opened();
    const [earlier] = await createSubjects(shop, 1);
    // On PostgreSQL, an event is new until it has its number.
    await shop.request('GET', `/v2/events?subject=${earlier}&wait=20`, { as: shop.admin });
    const stream = await openStream(t, shop, '?types=cheese.*');
    const [subject] = await createSubjects(shop, 1);
    await until(async () => stream.blocks.length > 0, 'the event does not come');
    assert.deepEqual(
      stream.blocks.map(({ data }) => data.subject),
      [subject],
    );
    stream.close();
  });

  test('GET /v2/events/stream is refused before the first byte with an ordinary error', async (t) => {
    const shop = opened();
    assert.equal((await openStream(t, shop, '?since=nonsense')).status, 400);
    assert.equal((await openStream(t, shop, '?since=evt_zzzz_1')).status, 410);
    const unknown = await fetch(`${shop.url}/v2/events/stream`);
    assert.equal(unknown.status, 401);
    await unknown.body?.cancel();
  });

  test('GET /v2/events/stream is limited by account, and a place is free again when a stream closes', async (t) => {
    const shop = opened();
    const streams: OpenStream[] = [];
    await until(async () => {
      const stream = await openStream(t, shop);
      if (stream.status === 200) {
        streams.push(stream);
        return false;
      }
      assert.equal(stream.status, 429);
      assert.equal(stream.headers.get('retry-after'), '1');
      return true;
    }, 'there is no limit');
    assert.equal(streams.length, 3);
    const { bounds } = (await shop.request('GET', '/v2/limits', { as: shop.admin })).json;
    assert.deepEqual([bounds.streams, bounds.streamsPerAccount], [1000, 3]);
    streams[0]?.close();
    await until(async () => {
      const stream = await openStream(t, shop);
      stream.close();
      return stream.status === 200;
    }, 'the place stays taken');
    for (const stream of streams) {
      stream.close();
    }
  });

  test('GET /v2/events/stream keeps no place for clients that are gone before it begins', async () => {
    const { routes } = opened().app;
    const stream = routes.find(({ operationId }) => operationId === 'streamEvents');
    const openConnection = () => ({
      closed: AbortSignal.abort(),
      recheckCredential: async () => {},
      destroy() {},
    });
    const request = {
      query: { since: 'latest' },
      headers: {},
      principal: { accountId: 9, scopes: new Set() },
      openConnection,
    };
    // One more than an account may have open.
    for (let count = 0; count < 4; count += 1) {
      assert.equal((await stream?.handle(request as never))?.status, 200);
    }
  });

  test('GET /v2/events/stream ends when the server stops', async (t) => {
    const shop = await openListeningShop(t, { engine });
    const stream = await openStream(t, shop);
    const startedAt = performance.now();
    await shop.app.close();
    await until(async () => stream.isEnded(), 'the stream stays open');
    assert.ok(performance.now() - startedAt < 15_000);
  });
});

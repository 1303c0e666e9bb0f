/** Idempotency-Key: a POST that is sent again returns the first response and runs once. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { assertError, onBothEngines, openShop, type Shop, type TestResponse, testClock } from '../helper.ts';

const dayMs = 24 * 60 * 60 * 1000;

function create(shop: Shop, key: string, body: unknown, as = shop.writer): Promise<TestResponse> {
  return shop.request('POST', '/v2/cheeses', { as, body, headers: { 'idempotency-key': key } });
}

async function total(shop: Shop): Promise<number> {
  return (await shop.request('GET', '/v2/cheeses?limit=1', { as: shop.reader })).json.total;
}

const isReplay = ({ headers }: TestResponse) => headers['idempotency-replayed'] === 'true';

function assertReplayOf(first: TestResponse, again: TestResponse): void {
  assert.ok(isReplay(again), again.text);
  assert.equal(again.status, first.status);
  assert.equal(again.text, first.text);
  for (const name of ['location', 'etag', 'content-type', 'cache-control']) {
    assert.equal(again.headers[name], first.headers[name], name);
  }
}

/** One request ran; each of the others got its response, or 409. */
function assertRanOnce(responses: readonly TestResponse[]): void {
  const first = responses.filter((response) => response.status === 201 && !isReplay(response));
  assert.equal(first.length, 1, responses.map(({ status, text }) => `${status} ${text}`).join('\n'));
  for (const answer of responses.filter((one) => !first.includes(one))) {
    if (answer.status === 201) {
      assertReplayOf(first[0] as TestResponse, answer);
    } else {
      assertError(answer, 409, 'conflict');
      assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/, answer.text);
    }
  }
}

onBothEngines('Idempotency-Key', (engine) => {
  test('An Idempotency-Key replays status, body, Location and ETag, and changes nothing', async (t) => {
    const shop = await openShop(t, { engine });
    const first = await create(shop, 'once', { name: 'Brie' });
    assert.deepEqual([first.status, isReplay(first)], [201, false]);
    for (const again of [
      await create(shop, 'once', { name: 'Brie' }),
      await create(shop, 'once', { name: 'Brie' }),
    ]) {
      assertReplayOf(first, again);
    }
    assert.equal(await total(shop), 1);
    const events = await shop.app.database.all(sql`select * from event where type like 'cheese.%'`);
    assert.equal(events.length, 1);
  });

  test('An Idempotency-Key returns the first response also after the cheese was changed or deleted', async (t) => {
    const shop = await openShop(t, { engine });
    const first = await create(shop, 'once', { name: 'Brie' });
    const url = `/v2/cheeses/${first.json.id}`;
    await shop.request('POST', url, { as: shop.writer, body: { name: 'Edam', status: 'sold' } });
    assertReplayOf(first, await create(shop, 'once', { name: 'Brie' }));
    await shop.request('DELETE', url, { as: shop.writer, headers: { 'x-confirm-delete': 'true' } });
    assertReplayOf(first, await create(shop, 'once', { name: 'Brie' }));
    assert.equal(await total(shop), 0);
  });

  test('An Idempotency-Key can be used again after a request that failed', async (t) => {
    const shop = await openShop(t, { engine });
    const taken = await create(shop, 'first', { name: 'Brie' });
    assertError(await create(shop, 'mine', { name: '' }), 422, 'validation_error');
    assertError(await create(shop, 'mine', { name: 'Edam' }, shop.reader), 403, 'forbidden');
    assertError(await create(shop, 'mine', { name: 'Brie' }), 409, 'conflict');
    await shop.request('POST', `/v2/cheeses/${taken.json.id}`, { as: shop.writer, body: { name: 'Edam' } });
    const made = await create(shop, 'mine', { name: 'Brie' });
    assert.deepEqual([made.status, isReplay(made)], [201, false]);
    assertReplayOf(made, await create(shop, 'mine', { name: 'Brie' }));
  });

  test('An Idempotency-Key runs one of 20 parallel requests', async (t) => {
    const shop = await openShop(t, { engine });
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => create(shop, 'race', { name: 'Brie' })),
    );
    assertRanOnce(responses);
    assert.equal(await total(shop), 1);
    assert.ok(isReplay(await create(shop, 'race', { name: 'Brie' })));
  });

  test('An Idempotency-Key runs one of 20 parallel requests to two servers on one database', async (t) => {
    const shop = await openShop(t, { engine });
    const other = await shop.another();
    for (const name of ['Brie', 'Edam', 'Gouda']) {
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          create(index % 2 === 0 ? shop : other, name, { name }, shop.writer),
        ),
      );
      assertRanOnce(responses);
    }
    assert.equal(await total(shop), 3);
    assertReplayOf(
      await create(shop, 'Brie', { name: 'Brie' }),
      await create(other, 'Brie', { name: 'Brie' }, shop.writer),
    );
  });

  test('An Idempotency-Key replays where a second run would be refused: the last API key that the account may have', async (t) => {
    const shop = await openShop(t, { engine });
    const other = await shop.another();
    const as = await shop.createKey({ scopes: ['admin'] });
    await shop.request('POST', '/v2/api-keys', { as, body: {} });
    const headers = { 'idempotency-key': 'third' };
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        (index % 2 === 0 ? shop : other).request('POST', '/v2/api-keys', { as, body: {}, headers }),
      ),
    );
    assertRanOnce(responses);
  });

  test('An Idempotency-Key expires after 24 hours', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const first = await create(shop, 'once', { name: 'Brie' });
    clock.advance(dayMs - 1);
    assertReplayOf(first, await create(shop, 'once', { name: 'Brie' }));
    clock.advance(1);
    assertError(await create(shop, 'once', { name: 'Brie' }), 409, 'conflict');
    const second = await create(shop, 'once', { name: 'Edam' });
    assert.deepEqual([second.status, isReplay(second)], [201, false]);
    assertReplayOf(second, await create(shop, 'once', { name: 'Edam' }));
  });
});

test('The same Idempotency-Key with another body or query is 422, and changes nothing', async (t) => {
  const shop = await openShop(t);
  const first = await create(shop, 'once', { name: 'Brie' });
  for (const { url, body } of [
    { url: '/v2/cheeses', body: { name: 'Edam' } },
    { url: '/v2/cheeses', body: { name: 'Brie', status: 'sold' } },
    { url: '/v2/cheeses?x=1', body: { name: 'Brie' } },
  ]) {
    const headers = { 'idempotency-key': 'once' };
    const response = await shop.request('POST', url, { as: shop.writer, body, headers });
    assertError(response, 422, 'validation_error');
    assert.equal(isReplay(response), false);
  }
  assert.equal(await total(shop), 1);
  assertReplayOf(first, await create(shop, 'once', { name: 'Brie' }));
});

test('Idempotency-Keys are separate by text, path and principal', async (t) => {
  const shop = await openShop(t);
  const someone = await shop.createKey({ scopes: ['write:cheeses'] });
  const first = await create(shop, 'a', { name: 'Brie' });
  const others = [
    await create(shop, 'b', { name: 'Edam' }),
    await create(shop, 'a', { name: 'Gouda' }, someone),
  ];
  const update = (id: number) =>
    shop.request('POST', `/v2/cheeses/${id}`, {
      as: shop.writer,
      body: { status: 'sold' },
      headers: { 'idempotency-key': 'a' },
    });
  assert.deepEqual(
    others.map((response) => [response.status, isReplay(response)]),
    [
      [201, false],
      [201, false],
    ],
  );
  for (const { json } of [first, ...others]) {
    const changed = await update(json.id);
    assert.deepEqual([changed.status, isReplay(changed), changed.json.id], [200, false, json.id]);
    assertReplayOf(changed, await update(json.id));
  }
  assertReplayOf(first, await create(shop, 'a', { name: 'Brie' }));
  assert.equal(await total(shop), 3);
});

test('An Idempotency-Key is the same with and without quotes; its case matters', async (t) => {
  const shop = await openShop(t);
  const first = await create(shop, '"a-1"', { name: 'Brie' });
  assert.equal(first.status, 201);
  assertReplayOf(first, await create(shop, 'a-1', { name: 'Brie' }));
  assert.equal((await create(shop, 'A-1', { name: 'Edam' })).status, 201);
  const longest = 'x'.repeat(255);
  assert.equal((await create(shop, longest, { name: 'Gouda' })).status, 201);
  assert.ok(isReplay(await create(shop, `"${longest}"`, { name: 'Gouda' })));
});

test('A quoted Idempotency-Key may contain spaces and escapes, as a structured-field string', async (t) => {
  const shop = await openShop(t);
  const first = await create(shop, '"my \\"first\\" attempt"', { name: 'Brie' });
  assert.equal(first.status, 201, first.text);
  assertReplayOf(first, await create(shop, '"my \\"first\\" attempt"', { name: 'Brie' }));
});

test('An invalid Idempotency-Key is 400 before the body is validated, and changes nothing', async (t) => {
  const shop = await openShop(t);
  for (const key of [
    '',
    ' ',
    '""',
    'a b',
    'x'.repeat(256),
    `"${'x'.repeat(256)}"`,
    'clé',
    'a, b',
    'tab\there',
  ]) {
    for (const body of [{ name: 'Brie' }, { name: '' }]) {
      const headers = {
        'x-api-key': shop.writer,
        'idempotency-key': key,
        'content-type': 'application/json',
      };
      const payload = JSON.stringify(body);
      const request = { method: 'POST', url: '/v2/cheeses', headers, payload } as const;
      const { statusCode, json } = await shop.app.server.inject(request);
      assert.equal(statusCode, 400, `${JSON.stringify(key)} ${payload}`);
      assert.equal(json().type, 'bad_request');
      assert.match(json().message, /A key with spaces needs quotes/);
    }
  }
  assert.equal(await total(shop), 0);
});

test('A route declares the 400 for an invalid Idempotency-Key', async (t) => {
  const shop = await openShop(t);
  assertError(await create(shop, '', { name: 'Brie' }), 400, 'bad_request');
});

test('GET and DELETE ignore an Idempotency-Key', async (t) => {
  const shop = await openShop(t);
  const { json } = await create(shop, 'once', { name: 'Brie' });
  const headers = { 'idempotency-key': 'once', 'x-confirm-delete': 'true' };
  const url = `/v2/cheeses/${json.id}`;
  assert.equal((await shop.request('GET', url, { as: shop.reader, headers })).status, 200);
  assert.equal((await shop.request('DELETE', url, { as: shop.writer, headers })).status, 204);
  const again = await shop.request('DELETE', url, { as: shop.writer, headers });
  assertError(again, 404, 'not_found');
});

test('The stored fingerprint of a request is no plain digest, from which its password could be guessed', async (t) => {
  const shop = await openShop(t);
  const raw = JSON.stringify({ username: 'ada', email: 'ada@example.com', password: 'brie' });
  const headers = { 'idempotency-key': 'once' };
  assert.equal((await shop.request('POST', '/v2/customer', { raw, headers })).status, 201);
  const rows = await shop.app.database.all<{ fingerprint: string }>(
    sql`select fingerprint from stored_response`,
  );
  const guesses = ['', 'POST /v2/customer', 'POST /v2/customer\n'].map((before) =>
    hash('sha256', before + raw),
  );
  assert.equal(rows.length, 1);
  assert.ok(!guesses.includes(rows[0]?.fingerprint ?? ''));
});

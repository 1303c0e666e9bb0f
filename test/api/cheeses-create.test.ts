import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, onBothEngines, openShop } from '../helper.ts';

onBothEngines('POST /cheeses', (engine) => {
  test('answers 201 with the cheese, its address and its ETag', async (t) => {
    const shop = await openShop(t, { engine });
    const answer = await shop.call('POST', '/v2/cheeses', {
      as: shop.writer,
      body: {
        name: 'Comté',
        category: { name: 'Hard' },
        tags: [{ name: 'cow' }],
        pricePerKg: 32.5,
        ageMonths: 12,
      },
    });
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.location, `/v2/cheeses/${answer.json.id}`);
    assert.equal(answer.headers.etag, '"1"');
    assert.equal(answer.json.category.name, 'Hard');
    const read = await shop.call('GET', answer.headers.location ?? '', { as: shop.reader });
    assert.deepEqual(read.json, answer.json);
  });

  test('answers 409 when the name exists in the category, and writes nothing', async (t) => {
    const shop = await openShop(t, { engine });
    const cheese = { name: 'Comté', category: { name: 'Hard' } };
    await shop.call('POST', '/v2/cheeses', { as: shop.writer, body: cheese });
    assertError(await shop.call('POST', '/v2/cheeses', { as: shop.writer, body: cheese }), 409, 'conflict');
    const { json } = await shop.call('GET', '/v2/cheeses', { as: shop.reader });
    assert.equal(json.total, 1);
  });
});

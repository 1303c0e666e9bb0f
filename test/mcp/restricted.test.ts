/** MCP with a restricted key: what its budget refuses is a result that a model reads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, openListeningShop, shared } from '../helper.ts';
import { newCheese, orderOf } from '../shop-verbs.ts';
import { agentKey, connect, run } from './clients.ts';

onBothEngines('A restricted key at the MCP endpoint', (engine) => {
  const shop = shared((t) => openListeningShop(t, { engine }));
  const budgetKey = (limits: object) =>
    shop().createKey({
      kind: 'restricted',
      scopes: ['read:cheeses', 'read:orders', 'write:orders'],
      ...limits,
    });

  test('A restricted key at the MCP endpoint orders up to its budget, and gets the refusal as a result', async (t) => {
    const key = await budgetKey({ dollarsPerDay: 25 });
    const id = await newCheese(shop());
    const client = await connect(t, shop(), key);
    const place = async (quantity: number, idempotencyKey: string) => {
      const given = { ...orderOf([[id, quantity]]), maxTotal: 100, idempotencyKey };
      const result = await client.callTool({ name: 'place_order', arguments: given });
      return {
        isError: result.isError ?? false,
        content: result.structuredContent as Record<string, unknown>,
      };
    };
    const placed = await place(2, 'first');
    assert.equal(placed.isError, false);
    const refused = await place(1, 'second');
    assert.deepEqual([refused.isError, refused.content.code], [true, 429]);
    assert.match(
      String(refused.content.message),
      /may spend in a day: \$25\.00, \$\d+\.\d\d left\. Nothing was ordered/,
    );
    assert.ok(Number(refused.content.retryAfterSeconds) > 0);
    assert.deepEqual(await place(2, 'first'), {
      isError: false,
      content: { ...placed.content, replayed: true },
    });
  });

  test('The tool place_order does not round maxTotal up', async (t) => {
    const id = await newCheese(shop(), { pricePerKg: 10 });
    const client = await connect(t, shop(), await budgetKey({ dollarsPerDay: 25 }));
    for (const [maxTotal, isError] of [
      [9.999_999_999, true],
      [10, false],
    ] as const) {
      const given = { ...orderOf([[id, 1]]), maxTotal, idempotencyKey: `up to ${maxTotal}` };
      const result = await client.callTool({ name: 'place_order', arguments: given });
      assert.equal(result.isError ?? false, isError, JSON.stringify(result.structuredContent));
    }
  });

  test('A restricted key at the MCP endpoint is refused cheeses outside of its limits, and orders of others', async () => {
    const [known, other] = [await newCheese(shop()), await newCheese(shop())];
    const key = await budgetKey({ cheeseIds: [known] });
    const payment = { maxTotal: 10, idempotencyKey: 'limits' };
    const refused = await run(shop(), key, 'place_order', { ...orderOf(other), ...payment });
    assert.deepEqual([refused.isError, refused.structuredContent.code], [true, 403]);
    assert.match(refused.structuredContent.message, /items\[0\]\.cheeseId/);
    const secret = await agentKey(shop());
    const foreign = await run(shop(), secret, 'place_order', { ...orderOf(known), ...payment });
    const { id: orderId } = foreign.structuredContent;
    for (const name of ['get_order', 'cancel_order']) {
      const { isError, structuredContent } = await run(shop(), key, name, { orderId });
      assert.equal(isError, true, name);
      assert.ok([403, 404].includes(structuredContent.code), name);
    }
  });
});

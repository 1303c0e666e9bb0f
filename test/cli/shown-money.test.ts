/** What is shown of orders outside of the console: mails, MCP, commands and messages know the currency and pieces. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { callForResponse, callOperation } from '../../src/cli/operations/call-operation.ts';
import { shopOperations } from '../../src/cli/operations/shop-operations.ts';
import { AppError } from '../../src/errors.ts';
import { mailNames } from '../../src/settings/mail.ts';
import { bern, onBothEngines, openListeningShop, shared } from '../helper.ts';
import { connect } from '../mcp/clients.ts';
import { newCheese, newOrder, placeOrder, registerAndLogIn } from '../shop-verbs.ts';
import { curd, freshShop, inShop } from './run.ts';

/** A dollar sign before an amount, or the words. */
const dollars = /\$\s?\d|\bUSD\b|US dollar/i;

function assertNoDollars(shown: Readonly<Record<string, string>>): void {
  for (const [what, text] of Object.entries(shown)) {
    assert.doesNotMatch(text, dollars, what);
  }
}

const wheel = {
  name: 'Wheel',
  pricePerKg: 32.5,
  portions: [{ grams: 200 }, { grams: 8000, name: 'Half wheel' }],
};

onBothEngines('A shop in EUR', (engine) => {
  const opened = shared(async (t) => {
    const shop = await openListeningShop(t, { engine });
    const body = { currency: 'EUR' };
    assert.equal((await shop.request('PATCH', '/v2/shop', { as: shop.admin, body })).status, 200);
    const cheese = await newCheese(shop, { ...wheel, name: `Wheel of ${engine}` });
    const stock = { as: shop.admin, body: { onHand: 6.4 } };
    assert.equal((await shop.request('PUT', `/v2/cheeses/${cheese}/stock`, stock)).status, 201);
    return { shop, cheese };
  });
  const itemsOf = (cheeseId: number, quantity: number, grams = 200) => ({
    items: [{ cheeseId, quantity, grams }],
  });

  test('Mails of a shop in EUR show pieces, prices and totals in EUR', async () => {
    const { shop, cheese } = opened();
    const { headers } = await registerAndLogIn(shop);
    const order = await newOrder(shop, [cheese], { headers, more: itemsOf(cheese, 3) });
    const { previews } = shop.app.mail;
    for (const name of mailNames) {
      const sample = await previews.sample(name);
      const mails = [sample, ...(name.startsWith('order-') ? [await previews.ofOrder(name, order)] : [])];
      for (const { subject, text, html } of mails) {
        assertNoDollars({ [`${name} subject`]: subject, [`${name} text`]: text, [`${name} HTML`]: html });
        if (name.startsWith('order-')) {
          const line = '3 × 200 g at €6.50 (€32.50 a kilogram)';
          assert.ok(text.includes(`${line}: €19.50`), text);
          assert.ok(html.includes(line) && html.includes('>€19.50<'), html);
        }
      }
    }
  });

  test('Mails of a shop are written as in its language', async (t) => {
    const shop = await openListeningShop(t, { engine });
    const body = { currency: 'EUR', language: 'de' };
    assert.equal((await shop.request('PATCH', '/v2/shop', { as: shop.admin, body })).status, 200);
    const { text } = await shop.app.mail.previews.sample('order-placed');
    assert.match(text, /3 × 200 g at 6,50\s€ \(32,50\s€ a kilogram\): 19,50\s€/);
  });

  test('Refusals of orders of a shop in EUR name amounts in EUR', async () => {
    const { shop, cheese } = opened();
    const restricted = (limits: object) =>
      shop.createKey({ kind: 'restricted', scopes: ['write:orders'], ...limits });
    const messages = await Promise.all(
      [
        { as: await restricted({ dollarsPerOrder: 5 }) },
        { as: await restricted({ dollarsPerDay: 5 }) },
        { headers: { 'curd-max-total': '5' } },
      ].map(async (options) => {
        const { status, json } = await placeOrder(shop, [cheese], { ...options, more: itemsOf(cheese, 1) });
        assert.ok([403, 409, 429].includes(status), json.message);
        return json.message as string;
      }),
    );
    for (const message of messages) {
      assert.match(message, /€6\.50.*€5\.00/);
      assert.doesNotMatch(message, dollars);
    }
  });

  test('MCP of a shop in EUR says the currency, how to order pieces, and what each costs', async (t) => {
    const { shop, cheese } = opened();
    const key = await shop.createKey({ scopes: ['read:cheeses', 'read:orders', 'write:orders'] });
    const client = await connect(t, shop, key);
    const instructions = client.getInstructions() ?? '';
    assert.match(instructions, /in EUR\. .*portions.*grams/);
    const { tools } = await client.listTools();
    assertNoDollars({ instructions, tools: JSON.stringify(tools) });
    const call = async (name: string, given: Record<string, unknown>) => {
      const result = await client.callTool({ name, arguments: given });
      assert.equal(result.isError ?? false, false, JSON.stringify(result));
      // biome-ignore lint/suspicious/noExplicitAny: the client has validated it.
      return result.structuredContent as any;
    };
    const { availability } = await call('get_cheese', { cheeseId: cheese });
    assert.deepEqual(
      availability.portions.map(({ grams, price }: { grams: number; price: number }) => [grams, price]),
      [
        [200, 6.5],
        [8000, 260],
      ],
    );
    const quote = await call('quote_order', { ...itemsOf(cheese, 2), shippingAddress: bern });
    assert.deepEqual([quote.items[0].unitPrice, quote.total], [6.5, 13]);
  });

  test('The reference of a shop names no dollars but those in names of members', async () => {
    const { text } = await opened().shop.request('GET', '/openapi.json');
    assert.doesNotMatch(text.replaceAll('"USD"', ''), /\$\d|US dollar|whole kilograms of/i);
  });
});

suite('Commands of a shop in EUR', () => {
  test('Commands show pieces and amounts in EUR', async (t) => {
    const shop = await freshShop(t);
    await curd(shop, 'migrate');
    assert.match((await curd(shop, 'shop', 'change', '--currency', 'EUR')).stdout, /^currency +EUR$/m);
    const { cheese, order, key } = await inShop(shop, async (composed) => {
      const { keys } = composed.auth;
      const context = composed.contextOf('test');
      const { id } = await composed.cheeses.service.create(context, wheel);
      const placed = await callOperation(composed, 'placeOrder', {
        items: [
          { cheeseId: id, quantity: 3, grams: 200 },
          { cheeseId: id, quantity: 1, grams: 8000 },
        ],
        shippingAddress: bern,
      });
      const customer = { username: 'ada', email: 'ada@example.com', password: 'correct horse battery' };
      await composed.customers.service.register(context, customer);
      const account = await keys.createAccount(context, 'shop');
      const created = await keys.create(context, account.id, { scopes: [] });
      return { cheese: String(id), order: String(placed.id), key: String(created.id) };
    });
    const set = await curd(shop, 'stock', 'set', cheese, '16.4');
    assert.match(set.stdout, /: 16\.4 kg on hand, 8\.6 kg reserved, 7\.8 kg available\./);
    const shown = await curd(shop, 'orders', 'show', order);
    assert.match(shown.stdout, /^3 × 200 g Wheel: €19\.50\n1 × 8000 g \(Half wheel\) Wheel: €260\.00$/m);
    assert.match(shown.stdout, /€279\.50/);
    const runs = [
      shown,
      await curd(shop, 'orders', 'list'),
      await curd(shop, 'stock', 'list'),
      await curd(shop, 'customers', 'list'),
      await curd(shop, 'keys', 'show', key),
      await curd(shop, 'keys', 'create', '--help'),
      await curd(shop, 'mail', 'preview', 'order-placed'),
    ];
    for (const { code, stdout, stderr } of runs) {
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stdout, dollars);
    }
  });
});

test('curd stock set without --low-at is refused when the warning changes at the same time', async (t) => {
  const shop = await freshShop(t);
  await curd(shop, 'migrate');
  await inShop(shop, async (composed) => {
    const { id: cheeseId } = await composed.cheeses.service.create(composed.contextOf('test'), {
      name: 'Brie',
    });
    await callOperation(composed, 'replaceCheeseStock', { cheeseId, onHand: 20, lowAt: 5 });
    const { prepare } = shopOperations.find(({ name }) => name === 'stock set') ?? {};
    const prepared = await prepare?.({ cheeseId, onHand: 30 }, (operation, values) =>
      callForResponse(composed, operation, values),
    );
    await callOperation(composed, 'replaceCheeseStock', { cheeseId, onHand: 20, lowAt: 8 });
    await assert.rejects(
      callOperation(composed, 'replaceCheeseStock', prepared ?? {}),
      (error) => error instanceof AppError && error.code === 'preconditionFailed',
    );
    assert.equal((await callOperation(composed, 'getCheeseStock', { cheeseId })).lowAt, 8);
  });
});

/** Webhooks of the real server, verified by the client in the raw form of each framework. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { verify, WebhookRefused } from '../../client/webhooks/index.ts';
import { shared } from '../context.ts';
import { read } from '../gates/sources.ts';
import { openShop } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';
import { openReceiver } from '../webhooks/receiver.ts';
import { deliver, registerEndpoint } from '../webhooks/webhook-shop.ts';

/** A delivery of the server, and its secret. */
const delivery = shared(async (t) => {
  const shop = await openShop(t);
  const receiver = await openReceiver(t);
  const { secret } = await registerEndpoint(shop, receiver.url);
  await newCheese(shop, { name: 'Gruyère' });
  await deliver(shop);
  const [received] = receiver.received;
  assert.ok(received !== undefined);
  return { shop, receiver, secret, ...received };
});

const foreign = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

async function reasonOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof WebhookRefused, String(error));
    return error.reason;
  }
  assert.fail('it was accepted');
}

suite('verify', () => {
  test('verify() accepts a delivery in the raw form of each framework, and returns the event', async () => {
    const { secret, headers, text } = delivery();
    const bytes = Buffer.from(text);
    const fetchHeaders = new Headers(headers as Record<string, string>);
    const init = { method: 'POST', headers: fetchHeaders, body: text };
    const requests = {
      'Express with express.raw, Fastify with parseAs buffer': { headers, body: bytes },
      'a string': { headers, body: text },
      'a Fetch Request (Next, Hono, workers, Deno, Bun)': new Request('http://127.0.0.1/hook', init),
      'bytes of a worker': { headers: fetchHeaders, body: new Uint8Array(bytes) },
      'an ArrayBuffer': { headers: fetchHeaders, body: new Uint8Array(bytes).buffer },
    };
    for (const [framework, request] of Object.entries(requests)) {
      const event = await verify(request, secret);
      assert.deepEqual(event, JSON.parse(text), framework);
      assert.ok(event.type === 'cheese.created' && event.data.name === 'Gruyère');
    }
    const event = await verify({ headers, body: text }, [foreign, secret]);
    assert.equal(event.previousId, null);
  });

  test('verify() returns a test ping, with the members of its schema', async () => {
    const { shop, receiver, secret } = delivery();
    const [endpoint] = (await shop.request('GET', '/v2/webhook-endpoints', { as: shop.admin })).json.items;
    await shop.request('POST', `/v2/webhook-endpoints/${endpoint.id}/test`, { as: shop.admin });
    const { headers, text } = receiver.received.at(-1) ?? assert.fail();
    const event = await verify({ headers, body: text }, secret);
    assert.ok(event.type === 'webhook.test');
    assert.equal(event.subject, `webhook_endpoint:${endpoint.id}`);
    const { WebhookTest } = JSON.parse(read('openapi.json')).components.schemas;
    assert.deepEqual(Object.keys(event), Object.keys(WebhookTest.properties));
    assert.deepEqual(Object.keys(event).sort(), WebhookTest.required.toSorted());
  });

  test('verify() refuses a parsed body, and says how the frameworks provide the raw one', async () => {
    const { secret, headers, text, body } = delivery();
    const consumed = new Request('http://127.0.0.1/', {
      method: 'POST',
      headers: new Headers(headers as Record<string, string>),
      body: text,
    });
    await consumed.json();
    for (const request of [{ headers, body }, { headers, body: undefined }, consumed]) {
      await assert.rejects(verify(request as never, secret), (error: WebhookRefused) => {
        assert.equal(error.reason, 'body_was_parsed');
        assert.match(error.message, /Express: .*Fastify: .*Next: .*Hono: /);
        return true;
      });
    }
  });

  test('verify() refuses a changed byte, a foreign secret, and a request without a signature', async () => {
    const { secret, headers, text } = delivery();
    const changed = text.replace('Gruyère', 'Gruyere');
    assert.equal(await reasonOf(verify({ headers, body: changed }, secret)), 'bad_signature');
    assert.equal(await reasonOf(verify({ headers, body: text }, foreign)), 'bad_signature');
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      const without = { ...headers, [name]: undefined };
      assert.equal(await reasonOf(verify({ headers: without, body: text }, secret)), 'no_signature');
    }
    const unsigned = { ...headers, 'webhook-signature': 'v1a,abc v1' };
    assert.equal(await reasonOf(verify({ headers: unsigned, body: text }, secret)), 'bad_signature');
  });

  test('verify() refuses an old or future timestamp, and names both times', async () => {
    const { secret, id, text } = delivery();
    for (const minutes of [-6, 6]) {
      const at = new Date(Date.now() + minutes * 60_000);
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign(id, at, text),
      };
      await assert.rejects(verify({ headers, body: text }, secret), (error: WebhookRefused) => {
        assert.equal(error.reason, 'too_old');
        assert.ok(error.message.includes(at.toISOString().slice(0, 19)), error.message);
        assert.match(error.message, /the clock of this machine says \d{4}-.*Check the clock\.$/);
        return true;
      });
    }
    const { headers } = delivery();
    const garbled = { ...headers, 'webhook-timestamp': 'soon' };
    assert.equal(await reasonOf(verify({ headers: garbled, body: text }, secret)), 'too_old');
  });

  test('verify() reports a secret that is malformed or missing', async () => {
    const { headers, text } = delivery();
    for (const secret of ['', 'whsec_', 'whsec_***', undefined as unknown as string, []]) {
      assert.equal(await reasonOf(verify({ headers, body: text }, secret)), 'bad_secret', String(secret));
    }
  });
});

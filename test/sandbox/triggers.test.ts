/** Triggers: each type of event happens on demand, and consumers see it. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { verify } from '../../client/webhooks/index.ts';
import { eventTypes } from '../../src/app/event-types.ts';
import { validate } from '../../src/schema/validate.ts';
import { curd, curdJson } from '../cli/run.ts';
import { shopFolder } from '../context.ts';
import {
  assertError,
  assertFields,
  onBothEngines,
  openShop,
  type Shop,
  secret,
  shared,
  until,
} from '../helper.ts';
import { openReceiver } from '../webhooks/receiver.ts';

const path = '/v2/sandbox/trigger';
const triggered = eventTypes.names.filter((type) => type !== 'shop.reset');

const kinds = [...new Set(eventTypes.names.map((type) => type.split('.')[0]))];

const trigger = (shop: Shop, body: object, headers: Record<string, string> = {}) =>
  shop.request('POST', path, { as: shop.admin, body, headers });

async function lastEvent(shop: Shop): Promise<string> {
  await shop.app.events.numbering.run();
  return (await shop.request('GET', '/v2/events?since=latest', { as: shop.admin })).json.next;
}

/** The member `id` of a subject such as `order:31`. */
const idIn = (subject: string) => Number(subject.split(':')[1]);

onBothEngines('POST /sandbox/trigger', (engine) => {
  const opened = shared((t) =>
    openShop(t, { engine, settings: { CURD_WEBHOOK_TARGETS: 'any', CURD_APPROVAL_DELAY: '1h' } }),
  );

  test('POST /sandbox/trigger makes every type of event happen, which a webhook gets with a valid signature', async (t) => {
    const shop = opened();
    const receiver = await openReceiver(t);
    const { json: endpoint } = await shop.request('POST', '/v2/webhook-endpoints', {
      as: shop.admin,
      body: { url: receiver.url, types: kinds.map((kind) => `${kind}.*`) },
    });
    shop.app.webhooks.worker.start(false);
    const sent = new Map<string, { readonly id: string }>();
    for (const type of triggered) {
      const response = await trigger(shop, { type });
      assert.equal(
        response.status,
        201,
        `${type}: ${response.text} A new type needs a trigger in src/sandbox/triggers/.`,
      );
      assert.equal(response.json.event.type, type);
      sent.set(response.json.event.id, response.json.event);
    }
    const missing = () => [...sent].filter(([id]) => !receiver.received.some((one) => one.id === id));
    await until(async () => missing().length === 0).catch(() => assert.deepEqual(missing(), []));
    for (const { id, headers, text, body } of receiver.received) {
      const expected = sent.get(id);
      if (expected !== undefined) {
        await verify({ body: text, headers }, endpoint.secret);
        const { previousId: _, ...event } = body;
        assert.deepEqual(event, expected);
        const schema = shop.app.events.components.eventSchema.oneOf?.find(
          ({ properties }) => properties?.type?.const === body.type,
        );
        assert.ok(schema !== undefined, body.type);
        assert.deepEqual(validate(schema, body, true).errors, [], text);
      }
    }
    await shop.request('DELETE', `/v2/webhook-endpoints/${endpoint.id}`, { as: shop.admin });
  });

  test('POST /sandbox/trigger performs the change on the given subject', async () => {
    const shop = opened();
    const subjectOf = async (type: string) => (await trigger(shop, { type })).json.event.subject;
    const order = await subjectOf('order.placed');
    const status = async () =>
      (await shop.request('GET', `/v2/store/order/${idIn(order)}`, { as: shop.admin })).json.status;
    for (const reached of ['approved', 'shipped', 'delivered']) {
      const { json } = await trigger(shop, { type: `order.${reached}`, subject: order });
      assert.equal(json.event.subject, order);
      assert.equal(await status(), reached);
    }
    const stock = await subjectOf('stock.adjusted');
    for (const type of ['stock.low', 'stock.depleted', 'stock.adjusted']) {
      assert.equal((await trigger(shop, { type, subject: stock })).json.event.subject, stock);
    }
    const customer = await subjectOf('customer.created');
    for (const type of ['updated', 'tier_changed', 'sessions_ended', 'password_reset', 'deleted']) {
      const { json } = await trigger(shop, { type: `customer.${type}`, subject: customer });
      assert.equal(json.event.subject, customer);
    }
    const client = await subjectOf('oauth_client.created');
    assert.equal((await trigger(shop, { type: 'oauth_client.deleted', subject: client })).status, 201);
  });

  test('POST /sandbox/trigger returns 404 for an unknown subject, and 409 for one in the wrong state, and does nothing', async () => {
    const shop = opened();
    const { subject: placed } = (await trigger(shop, { type: 'order.placed' })).json.event;
    const { subject: key } = (await trigger(shop, { type: 'api_key.revoked' })).json.event;
    const { subject: endpoint } = (await trigger(shop, { type: 'webhook_endpoint.disabled' })).json.event;
    const { subject: stock } = (await trigger(shop, { type: 'stock.depleted' })).json.event;
    const before = await lastEvent(shop);
    for (const { type } of eventTypes.definitions) {
      const [kind] = type.split('.');
      const unknown = kind === 'oauth_client' ? 'ab12' : '999999';
      const response = await trigger(shop, { type, subject: `${kind}:${unknown}` });
      if (response.status !== 422) {
        assertError(response, 404, 'not_found');
      }
    }
    for (const [type, subject] of [
      ['order.shipped', placed],
      ['order.shipment_changed', placed],
      ['order.approved', 'order:1'],
      ['api_key.revoked', key],
      ['webhook_endpoint.disabled', endpoint],
      ['stock.depleted', stock],
      ['shop.reset', undefined],
    ] as const) {
      assertError(await trigger(shop, { type, subject }), 409, 'conflict');
    }
    assert.equal(await lastEvent(shop), before);
  });

  test('POST /sandbox/trigger returns 422 for an unknown type, and for a subject of another kind', async () => {
    const shop = opened();
    for (const type of ['order.lost', 'order.*', 'constructor', '__proto__', 'toString']) {
      assertFields(await trigger(shop, { type }), ['type']);
    }
    for (const [type, subject] of [
      ['order.shipped', 'cheese:1'],
      ['order.shipped', 'order:x'],
      ['order.shipped', 'order:1:2'],
      ['order.shipped', 'order'],
      ['order.shipped', '1'],
      ['order.shipped', `order:${'9'.repeat(30)}`],
      ['order.placed', 'order:1'],
      ['shop.event_withdrawn', 'shop'],
    ]) {
      assertFields(await trigger(shop, { type, subject }), ['subject'], subject);
    }
    assertFields(await trigger(shop, {}), ['type']);
  });

  test('POST /sandbox/trigger needs the scope admin, and triggers once for an Idempotency-Key', async () => {
    const shop = opened();
    const forbidden = await shop.request('POST', path, { as: shop.writer, body: { type: 'cheese.created' } });
    assertError(forbidden, 403, 'forbidden');
    const headers = { 'idempotency-key': 'trigger-1' };
    const first = await trigger(shop, { type: 'cheese.created' }, headers);
    const second = await trigger(shop, { type: 'cheese.created' }, headers);
    assert.deepEqual(second.json, first.json);
    assert.equal(second.headers['idempotency-replayed'], 'true');
    assertError(await trigger(shop, { type: 'cheese.created' }, { 'dry-run': 'true' }), 400, 'bad_request');
  });

  test('POST /sandbox/trigger returns no secrets, and leaves a shop in which doctor finds nothing', async () => {
    const shop = opened();
    for (const type of ['api_key.created', 'webhook_endpoint.created', 'customer.password_reset_created']) {
      assert.doesNotMatch((await trigger(shop, { type })).text, /sk_(test|live)_|whsec_/);
    }
    await shop.app.events.numbering.run();
    const findings = await shop.app.database.snapshot(async (snapshot) => {
      const all = shop.app.areas.flatMap(({ checks = [] }) => checks);
      return (await Promise.all(all.map(({ run }) => run(snapshot, () => {}, shop.clock.now())))).flat();
    });
    assert.deepEqual(findings, []);
  });
});

suite('Triggers', () => {
  test('Triggers do not exist in production', async (t) => {
    const settings = { CURD_ENVIRONMENT: 'production', CURD_PUBLIC_URL: 'https://shop.example' };
    const shop = await openShop(t, { settings });
    for (const as of [shop.admin, undefined]) {
      const options = { ...(as === undefined ? {} : { as }), body: { type: 'cheese.created' } };
      assertError(await shop.request('POST', path, options), 404, 'not_found');
    }
  });

  test('Triggers are a command', async (t) => {
    const environment = { CURD_DATA_DIR: await shopFolder(t), CURD_SECRET: secret };
    const list = await curd(environment, 'trigger', '--list');
    assert.deepEqual(list.stdout.trim().split('\n'), eventTypes.names);
    const event = await curdJson(environment, 'trigger', 'order.shipped');
    assert.equal(event.type, 'order.shipped');
    const delivered = await curd(environment, 'trigger', 'order.delivered', '--subject', event.subject);
    assert.match(delivered.stdout, /^order\.delivered of order:\d+ is event evt_\w+\.\n$/);
    for (const [args, message] of [
      [['trigger'], /The type of an event is missing\. "npx curd trigger --list" prints the types\./],
      [['trigger', 'order.lost'], /type: must be one of cheese\.created/],
      [['trigger', 'order.delivered', '--subject', event.subject], /The order is delivered\./],
    ] as const) {
      const refused = await curd(environment, ...args);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, message);
    }
    const production = {
      ...environment,
      CURD_ENVIRONMENT: 'production',
      CURD_PUBLIC_URL: 'https://shop.example',
      CURD_DATA_DIR: await shopFolder(t),
    };
    const refused = await curd(production, 'trigger', 'cheese.created');
    assert.match(refused.stderr, /A production shop does not have this command\./);
  });
});

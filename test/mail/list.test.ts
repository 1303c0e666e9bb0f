/** The list of mails, retries and previews over HTTP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, onBothEngines, shared, testClock } from '../helper.ts';
import { newCheese, newOrder, registerAndLogIn } from '../shop-verbs.ts';
import { mailsOf, openMailServer, openMailShop, sendMails } from './mail-shop.ts';

onBothEngines('Mails over HTTP', (engine) => {
  const opened = shared(async (t) => {
    const clock = testClock();
    const server = await openMailServer(t);
    return { server, clock, shop: await openMailShop(t, server, { engine, clock }) };
  });

  test('GET /mails returns pages by state, customer and order, without addresses and texts', async () => {
    const { shop, clock } = opened();
    const ada = await registerAndLogIn(shop);
    const cheese = await newCheese(shop);
    const orders: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      orders.push(await newOrder(shop, cheese, { headers: ada.headers }));
    }
    await sendMails(shop);
    const get = (query: string) => shop.request('GET', `/v2/mails?${query}`, { as: shop.admin });
    const first = await get(`customerId=${ada.id}&limit=2`);
    assert.deepEqual(
      first.json.items.map((mail: { orderId: number }) => mail.orderId),
      orders.toReversed().slice(0, 2),
    );
    assert.equal(first.json.hasMore, true);
    assert.equal(first.headers.link, `</v2/mails?cursor=${first.json.nextCursor}&limit=2>; rel="next"`);
    const second = await get(`customerId=${ada.id}&limit=2&cursor=${first.json.nextCursor}`);
    assert.deepEqual([second.json.items.length, second.json.nextCursor], [1, null]);
    assert.equal(second.headers.link, undefined);
    const [mail] = (await get(`orderId=${orders[0]}&state=sent`)).json.items;
    const { id, eventId, createdAt, ...rest } = mail;
    assert.match(eventId, /^evt_\w{4}_\d+$/);
    assert.equal(typeof id, 'number');
    assert.equal(createdAt, new Date(clock.now()).toISOString());
    assert.deepEqual(rest, {
      mail: 'order-placed',
      state: 'sent',
      customerId: ada.id,
      orderId: orders[0],
      attempts: 1,
      sentAt: createdAt,
      nextAttemptAt: null,
      reason: null,
    });
    assert.doesNotMatch(first.text, /customers\.test|Gruy/);
    assert.deepEqual((await get(`orderId=${orders[0]}&state=failed`)).json.items, []);
    assertError(await get(`state=sent&cursor=${first.json.nextCursor}`), 400, 'bad_request');
    assertError(await get('state=lost'), 400, 'bad_request');
    assertError(await shop.request('GET', '/v2/mails', { as: shop.reader }), 403, 'forbidden');
    assertError(await shop.request('GET', '/v2/mails', { headers: ada.headers }), 403, 'forbidden');
  });

  test('POST /mails/{id}/retry sends a mail that failed, and returns 409 for one that was sent', async () => {
    const { shop, server } = opened();
    const ada = await registerAndLogIn(shop);
    const order = await newOrder(shop, await newCheese(shop), { headers: ada.headers });
    server.behavior.recipient = 550;
    await sendMails(shop);
    delete server.behavior.recipient;
    const mail = (await mailsOf(shop)).find(({ order_id }) => order_id === order);
    assert.equal(mail?.state, 'failed');
    const retry = (headers = {}) =>
      shop.request('POST', `/v2/mails/${mail?.id}/retry`, { as: shop.admin, headers });
    const dry = await retry({ 'dry-run': 'true' });
    assert.equal(dry.status, 200, dry.text);
    const before = server.received.length;
    await sendMails(shop);
    assert.equal(server.received.length, before);
    const retried = await retry();
    assert.equal(retried.status, 200, retried.text);
    assert.deepEqual([retried.json.state, retried.json.attempts, retried.json.reason], ['waiting', 0, null]);
    assert.notEqual(retried.json.nextAttemptAt, null);
    await sendMails(shop);
    assert.equal(server.received.length, before + 1);
    assertError(await retry(), 409, 'conflict');
    assertError(await shop.request('POST', '/v2/mails/99999/retry', { as: shop.admin }), 404, 'not_found');
  });

  test('POST /mails/{id}/retry makes a mail due that waits for its next attempt', async () => {
    const { shop, server } = opened();
    const ada = await registerAndLogIn(shop);
    const order = await newOrder(shop, await newCheese(shop), { headers: ada.headers });
    server.behavior.data = 451;
    await sendMails(shop);
    delete server.behavior.data;
    const list = () => shop.request('GET', `/v2/mails?orderId=${order}`, { as: shop.admin });
    const [waiting] = (await list()).json.items;
    assert.deepEqual([waiting.state, waiting.attempts], ['waiting', 1]);
    assert.equal(Date.parse(waiting.nextAttemptAt) - Date.parse(waiting.createdAt), 60_000);
    const retried = await shop.request('POST', `/v2/mails/${waiting.id}/retry`, { as: shop.admin });
    assert.equal(retried.status, 200, retried.text);
    await sendMails(shop);
    assert.equal((await list()).json.items[0].state, 'sent');
  });

  test('GET /mails/{id}/preview shows the mail with the data of today, and 409 after the customer was deleted', async () => {
    const { shop } = opened();
    const ada = await registerAndLogIn(shop, { firstName: 'Ada' });
    const name = 'Gruyère of an order';
    const cheese = await newCheese(shop, { name });
    const order = await newOrder(shop, cheese, { headers: ada.headers });
    await sendMails(shop);
    const mail = (await mailsOf(shop)).find(({ order_id }) => order_id === order);
    const preview = () => shop.request('GET', `/v2/mails/${mail?.id}/preview`, { as: shop.admin });
    const shown = await preview();
    assert.equal(shown.status, 200, shown.text);
    assert.deepEqual(Object.keys(shown.json), ['subject', 'text', 'html']);
    assert.match(shown.json.text, new RegExp(`Hello Ada,[^]*${name}`));
    await shop.request('DELETE', `/v2/customer/${ada.username}`, {
      headers: { ...ada.headers, 'x-confirm-delete': 'true' },
    });
    assertError(await preview(), 409, 'conflict');
    assertError(await shop.request('GET', '/v2/mails/99999/preview', { as: shop.admin }), 404, 'not_found');
  });

  test('Mails are deleted 30 days after they ended', async () => {
    const { shop, clock } = opened();
    const before = (await mailsOf(shop)).length;
    assert.ok(before > 0);
    clock.advance(31 * 24 * 60 * 60_000);
    await shop.app.mail.worker.purge();
    assert.deepEqual(await mailsOf(shop), []);
  });
});

onBothEngines('Mails to the owners of accounts', (engine) => {
  const opened = shared(async (t) => {
    const server = await openMailServer(t);
    return { server, shop: await openMailShop(t, server, { engine }) };
  });

  test('A changed password causes a mail, and a changed e-mail address one to the old address', async () => {
    const { shop, server } = opened();
    const ada = await registerAndLogIn(shop);
    const body = {
      username: ada.username,
      email: `new-${ada.email}`,
      password: 'another cellar of wheels',
      firstName: 'Ada',
    };
    const put = (changes: object) =>
      shop.request('PUT', `/v2/customer/${ada.username}`, {
        headers: ada.headers,
        body: { ...body, ...changes },
      });
    assert.equal((await put({})).status, 200);
    // Nothing of the two changes here.
    assert.equal((await put({ firstName: 'Augusta' })).status, 200);
    await sendMails(shop);
    const received = server.received.map(({ subject, to }) => [subject, [to].flat()[0]?.value[0]?.address]);
    assert.deepEqual(
      received.toSorted(),
      [
        ['Cheese shop: your e-mail address was changed', ada.email],
        ['Cheese shop: your password was changed', `new-${ada.email}`],
      ].toSorted(),
    );
    const rows = await mailsOf(shop);
    assert.deepEqual(
      rows.map(({ event_id, sealed_address }) => [event_id, sealed_address]),
      [
        [null, null],
        [null, null],
      ],
    );
    const changed = rows.find(({ name }) => name === 'email-changed');
    assertError(
      await shop.request('POST', `/v2/mails/${changed?.id}/retry`, { as: shop.admin }),
      409,
      'conflict',
    );
  });
});

/** What follows when a mail server is down, or refuses: retries, dead letters, and a stop where no mail can be sent. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { cleanUp, onBothEngines, type Shop, type TestClock, testClock } from '../helper.ts';
import { newCheese, newOrder, registerAndLogIn } from '../shop-verbs.ts';
import { type MailServer, mailsOf, openMailServer, openMailShop, sendMails, statesOf } from './mail-shop.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

onBothEngines('A mail', (engine) => {
  async function shopWithOrder(
    t: Parameters<typeof openMailServer>[0],
  ): Promise<{ shop: Shop; server: MailServer; clock: TestClock }> {
    const clock = testClock();
    const server = await openMailServer(t);
    const shop = await openMailShop(t, server, { engine, clock });
    const ada = await registerAndLogIn(shop);
    await newOrder(shop, await newCheese(shop), { headers: ada.headers });
    return { shop, server, clock };
  }

  test('A mail that waits while the server is down for an hour is sent once, when the server is back', async (t) => {
    const { shop, server, clock } = await shopWithOrder(t);
    await server.stop();
    const attempts: number[] = [];
    for (const waitMs of [0, minuteMs, 5 * minuteMs, 30 * minuteMs]) {
      clock.advance(Math.max(0, waitMs - 1));
      await sendMails(shop);
      clock.advance(Math.min(1, waitMs));
      await sendMails(shop);
      attempts.push((await mailsOf(shop))[0]?.attempts ?? -1);
    }
    assert.deepEqual(attempts, [1, 2, 3, 4]);
    const [waiting] = await mailsOf(shop);
    assert.match(waiting?.reason ?? '', /^the mail server does not respond \(.*ECONNREFUSED/);
    await server.start();
    clock.advance(2 * hourMs - 1);
    await sendMails(shop);
    assert.equal(server.received.length, 0);
    clock.advance(1);
    await sendMails(shop);
    await sendMails(shop);
    assert.equal(server.received.length, 1);
    assert.deepEqual(await statesOf(shop), ['order-placed sent']);
  });

  test('A mail that gets 451 six times is a dead letter, unless its reason is older than a day before', async (t) => {
    const { shop, server, clock } = await shopWithOrder(t);
    server.behavior.data = 451;
    for (const waitMs of [0, minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 12 * hourMs]) {
      assert.deepEqual(await statesOf(shop), waitMs === 0 ? [] : ['order-placed waiting']);
      clock.advance(waitMs);
      await sendMails(shop);
    }
    const [mail] = await mailsOf(shop);
    assert.deepEqual(
      [mail?.state, mail?.attempts, mail?.reason],
      ['failed', 6, 'Message failed: 451 Try another day'],
    );
  });

  test('A mail is dropped when its reason is older than a day', async (t) => {
    const { shop, server, clock } = await shopWithOrder(t);
    server.behavior.data = 451;
    await sendMails(shop);
    delete server.behavior.data;
    clock.advance(24 * hourMs);
    await sendMails(shop);
    const [mail] = await mailsOf(shop);
    assert.deepEqual([mail?.state, mail?.reason], ['dropped', 'its reason is too old']);
    assert.equal(server.received.length, 0);
  });

  test('A mail whose recipient gets 550 is a dead letter at once, and its reason has no address', async (t) => {
    const { shop, server } = await shopWithOrder(t);
    server.behavior.recipient = 550;
    await sendMails(shop);
    const [mail] = await mailsOf(shop);
    assert.deepEqual([mail?.state, mail?.attempts], ['failed', 1]);
    assert.match(mail?.reason ?? '', /550 … is unknown/);
    const list = await shop.request('GET', '/v2/mails?state=failed', { as: shop.admin });
    assert.equal(list.json.items[0].reason, mail?.reason);
  });

  test('A mail waits for its next attempt with a reason without control characters, whatever the server says', async (t) => {
    const talker = createServer((socket) => {
      socket.on('error', () => {});
      socket.end('421 No\0 mail \u0007\u001b[2J\u009btoday\r\n');
    });
    await once(talker.listen(0, '127.0.0.1'), 'listening');
    cleanUp(t, () => talker.close());
    const { port } = talker.address() as AddressInfo;
    const shop = await openMailShop(t, { url: `smtp://127.0.0.1:${port}` }, { engine });
    const ada = await registerAndLogIn(shop);
    await newOrder(shop, await newCheese(shop), { headers: ada.headers });
    await sendMails(shop);
    const [mail] = await mailsOf(shop);
    assert.deepEqual([mail?.state, mail?.attempts], ['waiting', 1]);
    assert.match(mail?.reason ?? '', /421 No mail \[2J today$/);
  });

  for (const [what, behavior] of [
    ['sign-in', { auth: 535 }],
    ['sender', { sender: 550 }],
  ] as const) {
    test(`A mail is no attempt when the ${what} is refused: all sending stops for a minute`, async (t) => {
      const { shop, server, clock } = await shopWithOrder(t);
      const ada = await registerAndLogIn(shop);
      const cheese = await newCheese(shop);
      for (let count = 0; count < 5; count += 1) {
        await newOrder(shop, cheese, { headers: ada.headers });
      }
      Object.assign(server.behavior, behavior);
      await sendMails(shop);
      // Two connections at most find out.
      assert.ok(server.signIns() <= 2, `${server.signIns()} sign-ins`);
      const tried = server.signIns();
      clock.advance(minuteMs - 1);
      await sendMails(shop);
      assert.equal(server.signIns(), tried);
      const status = await shop.request('GET', '/v2/status', { as: shop.admin });
      assert.match(status.json.mail.fault, what === 'sign-in' ? /535/ : /550/);
      assert.deepEqual(
        (await mailsOf(shop)).map(({ state, attempts }) => [state, attempts]),
        Array(6).fill(['waiting', 0]),
      );
      for (const name of Object.keys(behavior)) {
        delete server.behavior[name as 'auth'];
      }
      clock.advance(1);
      await sendMails(shop);
      assert.equal(server.received.length, 6);
      assert.equal((await shop.request('GET', '/v2/status', { as: shop.admin })).json.mail.fault, null);
    });
  }

  test('A mail waits in a shop that was copied, until an operator resumes or discards', async (t) => {
    const { shop, server } = await shopWithOrder(t);
    await shop.app.database.run(sql`update mail_reader set is_paused = 1`);
    await sendMails(shop);
    assert.deepEqual(await statesOf(shop), ['order-placed waiting']);
    assert.equal((await shop.request('GET', '/v2/status', { as: shop.admin })).json.mail.paused, true);
    assert.equal(await shop.app.mail.pause.resume(), true);
    await sendMails(shop);
    assert.equal(server.received.length, 1);
    const ada = await registerAndLogIn(shop);
    const cheese = await newCheese(shop);
    await shop.app.database.run(sql`update mail_reader set is_paused = 1`);
    await newOrder(shop, cheese, { headers: ada.headers });
    await sendMails(shop);
    assert.equal(await shop.app.mail.pause.discard(), 1);
    await sendMails(shop);
    await newOrder(shop, cheese, { headers: ada.headers });
    await sendMails(shop);
    assert.deepEqual(await statesOf(shop), [
      'order-placed sent',
      'order-placed dropped',
      'order-placed sent',
    ]);
    assert.equal(server.received.length, 2);
  });
});

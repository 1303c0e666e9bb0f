/** Links to set a forgotten password, by mail. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listTables } from '../../src/database/copy/tables.ts';
import { rawSql, sql } from '../../src/database/sql.ts';
import { assertError, onBothEngines, openShop, type Shop, shared, testClock } from '../helper.ts';
import { type Customer, registerAndLogIn } from '../shop-verbs.ts';
import {
  type MailServer,
  mailsOf,
  openMailServer,
  openMailShop,
  recipientOf,
  sendMails,
} from './mail-shop.ts';

const minuteMs = 60_000;
const path = '/v2/customer/password-reset';
const accepted = { message: 'If this customer exists, a mail with a link is on its way.' };

onBothEngines('A forgotten password', (engine) => {
  const opened = shared(async (t) => {
    const clock = testClock();
    const server = await openMailServer(t);
    const settings = { CURD_RESET_LIMITS: '{"clientIp":1000}' };
    return { server, clock, shop: await openMailShop(t, server, { engine, clock, settings }) };
  });

  function linksOf({ received }: MailServer, { email }: Customer): string[] {
    return received
      .filter((mail) => recipientOf(mail) === email && mail.subject?.includes('choose a new password'))
      .map(
        ({ text = '' }) => new URL(/https?:\S+\/oauth\/password-reset\/\S+/.exec(text)?.[0] ?? '').pathname,
      );
  }

  async function ask(shop: Shop, body: object): Promise<void> {
    const response = await shop.request('POST', path, { body });
    assert.equal(response.status, 202, response.text);
    assert.deepEqual(response.json, accepted);
    await shop.app.mail.resets.settled();
    await sendMails(shop);
  }

  async function setPassword(shop: Shop, link: string, password: string): Promise<number> {
    const page = await shop.request('GET', link);
    const token = /name="token" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const response = await shop.request('POST', link, {
      raw: new URLSearchParams({ token, password, repeated: password }).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: 'http://127.0.0.1:8080',
      },
    });
    return response.status;
  }

  test('A forgotten password is replaced by a link that works once, and a mail says that it was changed', async () => {
    const { shop, server } = opened();
    const ada = await registerAndLogIn(shop);
    await ask(shop, { email: ada.email.toUpperCase() });
    const [link = '', ...others] = linksOf(server, ada);
    assert.deepEqual(others, []);
    assert.equal(await setPassword(shop, link, 'a new cellar of wheels'), 303);
    assert.equal((await shop.request('GET', link)).status, 404);
    const login = (password: string) =>
      shop.request('POST', '/v2/customer/login', { body: { username: ada.username, password } });
    assert.equal((await login('a new cellar of wheels')).status, 200);
    assert.equal((await login(ada.password)).status, 401);
    await sendMails(shop);
    const subjects = server.received
      .filter((mail) => recipientOf(mail) === ada.email)
      .map(({ subject }) => subject);
    assert.deepEqual(subjects.slice(1), ['Cheese shop: your password was changed']);
  });

  test('A forgotten password has a link for a username too; a newer link replaces it, and it ends 30 minutes after the mail', async () => {
    const { shop, server, clock } = opened();
    const ada = await registerAndLogIn(shop);
    await ask(shop, { username: `${ada.username} ` });
    await ask(shop, { email: `\u00a0${ada.email.toUpperCase()} ` });
    const [older = '', newer = ''] = linksOf(server, ada);
    assert.notEqual(older, newer);
    assert.equal((await shop.request('GET', older)).status, 404);
    clock.advance(30 * minuteMs - 1);
    assert.equal((await shop.request('GET', newer)).status, 200);
    clock.advance(1);
    assert.equal((await shop.request('GET', newer)).status, 404);
  });

  test('A forgotten password has the same link and Message-ID in a repeated mail, and a preview hides it', async () => {
    const { shop, server } = opened();
    const ada = await registerAndLogIn(shop);
    // The server has the mail, and its response is lost.
    server.behavior.beforeAccept = () => {
      throw Object.assign(new Error('lost'), { responseCode: 451 });
    };
    await ask(shop, { email: ada.email });
    delete server.behavior.beforeAccept;
    const mail = (await mailsOf(shop)).find(({ customer_id }) => customer_id === ada.id);
    assert.equal(mail?.state, 'waiting');
    await shop.request('POST', `/v2/mails/${mail?.id}/retry`, { as: shop.admin });
    await sendMails(shop);
    const [first = '', second = ''] = linksOf(server, ada);
    assert.equal(first, second);
    const ids = server.received
      .filter((one) => recipientOf(one) === ada.email)
      .map(({ messageId }) => messageId);
    assert.equal(new Set(ids).size, 1);
    const preview = await shop.request('GET', `/v2/mails/${mail?.id}/preview`, { as: shop.admin });
    assert.match(preview.json.text, /\/oauth\/password-reset\/…/);
  });

  test('A forgotten password has a token that is in no table, event, list or log', async () => {
    const { shop, server } = opened();
    const ada = await registerAndLogIn(shop);
    await ask(shop, { email: ada.email });
    const token = linksOf(server, ada)[0]?.split('/').at(-1) ?? '';
    assert.match(token, /^[\w-]{43}$/);
    const { database } = shop.app;
    for (const { name } of await listTables(database, database.engine)) {
      const rows = JSON.stringify(await database.all(sql`select * from ${rawSql(name)}`));
      assert.ok(!rows.includes(token), name);
    }
    for (const list of ['/v2/mails', '/v2/events?since=earliest&limit=100']) {
      assert.ok(!(await shop.request('GET', list, { as: shop.admin })).text.includes(token), list);
    }
  });

  test('A forgotten password causes no mail with the fourth request of a customer within an hour, and none for an unknown one', async () => {
    const { shop, server, clock } = opened();
    const ada = await registerAndLogIn(shop);
    for (let count = 0; count < 4; count += 1) {
      await ask(shop, { email: ada.email });
    }
    assert.equal(linksOf(server, ada).length, 3);
    const before = (await mailsOf(shop)).length;
    await ask(shop, { email: 'nobody@customers.test' });
    await ask(shop, { username: 'nobody' });
    assert.equal((await mailsOf(shop)).length, before);
    clock.advance(60 * minuteMs);
    await ask(shop, { email: ada.email });
    assert.equal(linksOf(server, ada).length, 4);
  });

  test('A forgotten password is refused without exactly one name, and in a dry run', async () => {
    const { shop } = opened();
    const send = (body: object, headers = {}) => shop.request('POST', path, { body, headers });
    assertError(await send({}), 422, 'validation_error');
    assertError(await send({ email: 'a@b.test', username: 'a' }), 422, 'validation_error');
    assertError(await send({ email: 'x'.repeat(300) }), 422, 'validation_error');
    assertError(await send({ email: 'a@b.test' }, { 'dry-run': 'true' }), 400, 'bad_request');
  });

  test('A forgotten password has a page that says the same for every name', async () => {
    const { shop, server } = opened();
    const ada = await registerAndLogIn(shop);
    const page = await shop.request('GET', '/oauth/forgot-password');
    assert.equal(page.headers['referrer-policy'], 'no-referrer');
    const token = /name="token" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const submit = async (login: string) => {
      const response = await shop.request('POST', '/oauth/forgot-password', {
        raw: new URLSearchParams({ token, login }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://127.0.0.1:8080' },
      });
      await shop.app.mail.resets.settled();
      await sendMails(shop);
      return response;
    };
    const known = await submit(ada.username);
    const unknown = await submit('nobody');
    assert.deepEqual([known.status, known.text], [200, unknown.text]);
    assert.match(known.text, /If this account exists, a mail is on its way/);
    assert.equal(linksOf(server, ada).length, 1);
    assert.equal((await submit(' ')).status, 422);
  });
});

test('Links for a new password are limited by client IP', async (t) => {
  const server = await openMailServer(t);
  const shop = await openMailShop(t, server);
  for (let count = 0; count < 10; count += 1) {
    assert.equal((await shop.request('POST', path, { body: { username: 'nobody' } })).status, 202);
  }
  const refused = await shop.request('POST', path, { body: { username: 'nobody' } });
  assertError(refused, 429, 'rate_limit_exceeded');
  assert.ok(Number(refused.headers['retry-after']) > 60);
  const stated = await shop.request('POST', path, {
    as: shop.reader,
    headers: { 'curd-client-ip': '203.0.113.7' },
    body: { username: 'nobody' },
  });
  assert.equal(stated.status, 202, stated.text);
});

test('Links for a new password are 409 where mail is off, and no page leads to them', async (t) => {
  const shop = await openShop(t, { settings: { CURD_MAIL: 'off' } });
  assertError(await shop.request('POST', path, { body: { username: 'ada' } }), 409, 'conflict');
  assert.equal((await shop.request('GET', '/oauth/forgot-password')).status, 404);
});

/** Registration from the login page, on the way to an application. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { RawSettings } from '../../src/settings/config.ts';
import { eventsNumbered } from '../auth/holders.ts';
import { registerCustomer } from '../shop-verbs.ts';
import { newApplication, openBrowser, openListeningShop, queryOf } from './flow.ts';

const person = {
  username: 'grace',
  email: 'grace@example.com',
  password: 'a cellar full of wheels',
  firstName: 'Grace',
  lastName: '<Hopper>',
};

async function open(t: TestContext, settings: RawSettings = {}) {
  const shop = await openListeningShop(t, { settings });
  const app = await newApplication(shop);
  const { go } = openBrowser(shop.url);
  let response = await go(`/oauth/authorize?${queryOf(app, { scope: 'read:profile' })}`);
  while (response.headers.has('location')) {
    response = await go(response.headers.get('location') ?? '');
  }
  const login = await response.text();
  const path = new URL(response.url).pathname;
  async function submit(fields: Readonly<Record<string, string>>, headers: Record<string, string> = {}) {
    const form = await (await go(`${path}/register`)).text();
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(form) ?? [];
    const body = new URLSearchParams({ token, ...fields });
    return go(`${path}/register`, { method: 'POST', body, headers: { origin: shop.url, ...headers } });
  }
  return { shop, go, login, path, submit };
}

test('A customer registers from the login page, is logged in, and continues to consent', async (t) => {
  const { shop, go, login, path, submit } = await open(t);
  assert.ok(login.includes(`<a href="${path}/register">Create an account</a>`), login);
  const form = await go(`${path}/register`);
  assert.equal(form.status, 200);
  const page = await form.text();
  assert.match(page, /<title>Register to go on to Cheese Diary - Cheese shop<\/title>/);
  assert.ok(page.includes(`<a href="${path}">Log in</a>`));
  let response = await submit(person);
  assert.equal(response.status, 303);
  while (response.headers.has('location')) {
    response = await go(response.headers.get('location') ?? '');
  }
  assert.match(await response.text(), /You are logged in as <strong>grace<\/strong>/);
  const { json } = await shop.request('GET', '/v2/customer/grace', { as: shop.reader });
  assert.deepEqual([json.firstName, json.lastName], ['Grace', '<Hopper>']);
  await eventsNumbered(shop);
  const events = await shop.request('GET', '/v2/events?types=customer.created', { as: shop.reader });
  assert.equal(events.json.items.at(-1).actor, 'anonymous');
});

test('Each error of a registration is shown at its field with the message of POST /customer', async (t) => {
  const { shop, submit } = await open(t, { CURD_ENVIRONMENT: 'sandbox', CURD_PASSWORD_MIN: '8' });
  await registerCustomer(shop, { username: 'ada' });
  for (const fields of [
    { ...person, username: 'a b', email: 'nowhere', password: 'short' },
    { ...person, password: 'password1' },
    { ...person, username: '', email: '' },
    { ...person, username: 'ADA', email: 'ada@example.com' },
  ]) {
    const body = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
    const expected = await shop.request('POST', '/v2/customer', { body });
    const response = await submit(fields);
    assert.equal(response.status, expected.status);
    const page = await response.text();
    const errors: { field: string; message: string }[] = expected.json.errors ?? [
      { field: 'username', message: 'belongs to another customer' },
      { field: 'email', message: 'belongs to another customer' },
    ];
    for (const { field, message } of errors) {
      const [, shown = ''] = new RegExp(`id="${field}-fault">([^<]*)<`).exec(page) ?? [];
      assert.ok(shown.endsWith(`: ${message}`), `${field}: ${shown}`);
    }
    assert.equal(page.match(/-fault">/g)?.length, errors.length);
    assert.ok(page.includes('value="&lt;Hopper&gt;"') && !page.includes(fields.password));
  }
  assert.equal((await submit(person, { origin: 'https://evil.example' })).status, 403);
  const { status } = await shop.request('GET', '/v2/customer/grace', { as: shop.reader });
  assert.equal(status, 404);
});

test('Registrations on the page count for the limit by client IP, like POST /customer', async (t) => {
  const limits = '{"perMinute":100,"accountsPerMinute":3,"publicPerMinute":100}';
  const { submit } = await open(t, { CURD_ADDRESS_LIMITS: limits });
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    statuses.push((await submit({ username: 'x' })).status);
  }
  assert.deepEqual(statuses, [422, 422, 429], 'the authorization request counts too');
});

test('With CURD_REGISTRATION=key the login page has no link, and the path is 404', async (t) => {
  const { go, login, path } = await open(t, { CURD_REGISTRATION: 'key' });
  assert.doesNotMatch(login, /register|Create an account/);
  assert.equal((await go(`${path}/register`)).status, 404);
  assert.equal((await go(`${path}/register`, { method: 'POST', body: new URLSearchParams() })).status, 404);
});

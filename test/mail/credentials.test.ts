/** Mails to operators about new OAuth clients, and about keys with the scope admin. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approve, newClient, newCustomer } from '../auth/holders.ts';
import { curdJson } from '../cli/run.ts';
import { secret } from '../context.ts';
import { onBothEngines, shared, testClock } from '../helper.ts';
import { openMailServer, openMailShop, recipientOf, sendMails } from './mail-shop.ts';

const dayMs = 24 * 60 * 60_000;
const operators = ['ada@example.com', 'bea@example.com'];
let accounts = 0;

onBothEngines('Mails about new credentials', (engine) => {
  const opened = shared(async (t) => {
    const clock = testClock();
    const server = await openMailServer(t);
    const shop = await openMailShop(t, server, { engine, clock });
    const [first, second] = [await newClient(shop), await newClient(shop)];
    await approve(shop, first, await newCustomer(shop, 'expired', 'staff'));
    clock.advance(91 * dayMs);
    const [ada, bea] = [await newCustomer(shop, 'ada', 'staff'), await newCustomer(shop, 'bea', 'staff')];
    // Two approvals of one person, and one of the client itself, which has no address.
    await approve(shop, first, ada);
    await approve(shop, second, ada);
    await approve(shop, first, null);
    await approve(shop, first, bea);
    const { app } = shop;
    const former = await newCustomer(shop, 'former', 'staff');
    await approve(shop, first, former);
    await app.customers.administration.changeRole(app.contextOf('test'), former, 'customer');
    await newCustomer(shop, 'unapproved', 'staff');
    await sendMails(shop);
    server.received.splice(0);
    return { shop, server };
  });

  /** The addresses that got a mail with this text, sorted; no other mail was sent. */
  async function recipientsOf(text: string): Promise<string[]> {
    const { shop, server } = opened();
    await sendMails(shop);
    const mails = server.received.splice(0);
    for (const mail of mails) {
      assert.ok(mail.text?.includes(text), mail.subject ?? text);
    }
    return mails.map(recipientOf).toSorted();
  }

  async function newAccount(): Promise<string> {
    const { shop } = opened();
    accounts += 1;
    const name = `partner-${accounts}`;
    const account = await shop.request('POST', '/v2/accounts', { as: shop.admin, body: { name } });
    assert.equal(account.status, 201, account.text);
    return name;
  }

  const clientOf = (account: string, name: string) => ({
    ...{ account, name, scopes: ['read:orders'], redirectUris: ['https://app.example/cb'] },
  });

  test('Mails about new credentials reach each operator once when the API creates a client', async () => {
    const { shop } = opened();
    const body = clientOf(await newAccount(), 'Cheese Diary');
    const made = await shop.request('POST', '/v2/oauth-clients', { as: shop.admin, body });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(await recipientsOf('Cheese Diary'), operators);
  });

  test('Mails about new credentials reach each operator once when the console creates a client', async () => {
    const { shop } = opened();
    const { link } = await shop.app.oauth.consoleLinks.create(shop.app.contextOf('cli'));
    const signedIn = await shop.request('POST', '/v2/console/sign-in', { body: { link } });
    assert.equal(signedIn.status, 201, signedIn.text);
    const made = await shop.request('POST', '/v2/oauth-clients', {
      headers: { authorization: `Bearer ${signedIn.json.accessToken}` },
      body: clientOf(await newAccount(), 'Cellar Map'),
    });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(await recipientsOf('Cellar Map'), operators);
  });

  test('Mails about new credentials reach each operator once when a command creates a key with the scope admin, and no other', async () => {
    const { shop } = opened();
    const { dataDir, database } = shop.config;
    const place = database.engine === 'postgres' ? { CURD_DATABASE: database.url } : {};
    const environment = { CURD_DATA_DIR: dataDir, CURD_SECRET: secret, ...place };
    const account = await newAccount();
    const create = (name: string, scope: string) =>
      curdJson(environment, 'keys', 'create', '--account', account, '--name', name, '--scope', scope);
    await create('scale', 'write:cheeses');
    await shop.request('POST', '/v2/api-keys', {
      as: shop.admin,
      body: { account, name: 'till', scopes: ['read:orders'] },
    });
    assert.deepEqual(await recipientsOf('nothing'), []);
    await create('night shift', 'admin');
    assert.deepEqual(await recipientsOf('night shift'), operators);
  });
});

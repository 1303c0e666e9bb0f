/** How long a login at the pages lasts in a browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { registerCustomer } from '../shop-verbs.ts';
import { newApplication, openBrowser, openListeningShop, queryOf } from './flow.ts';

const hour = 60 * 60;

test('A login at the pages ends 12 hours after the password, even while it is used', async (t) => {
  const shop = await openListeningShop(t);
  await registerCustomer(shop, { username: 'ada' });
  const app = await newApplication(shop);
  const browser = openBrowser(shop.url, 'ada');
  const { database } = shop.app;
  const readSession = async (): Promise<{ exp: number; loginTs: number }> => {
    const row = await database.get<{ payload: string }>(
      sql`select payload from oauth_object where model = 'Session'`,
    );
    return JSON.parse(row?.payload ?? '{}');
  };
  /** As if the login had been some hours earlier. */
  const age = async (seconds: number) => {
    const session = await readSession();
    const aged = { ...session, exp: session.exp - seconds, loginTs: session.loginTs - seconds };
    await database.run(
      sql`update oauth_object set payload = ${JSON.stringify(aged)} where model = 'Session'`,
    );
  };

  assert.deepEqual((await browser.authorize(queryOf(app))).forms, ['login', 'consent']);
  const { exp, loginTs } = await readSession();
  assert.ok(exp - loginTs <= 12 * hour && exp - loginTs > 12 * hour - 60);
  for (let uses = 0; uses < 2; uses += 1) {
    await age(5 * hour);
    assert.deepEqual((await browser.authorize(queryOf(app))).forms, []);
    const used = await readSession();
    assert.ok(used.exp - used.loginTs <= 12 * hour, `${used.exp - used.loginTs} seconds`);
  }
  await age(2 * hour + 60);
  assert.deepEqual((await browser.authorize(queryOf(app))).forms, ['login', 'consent']);
});

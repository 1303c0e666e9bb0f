/** Codes and tokens end at their time while the clock of the shop is moved, which the library does not know. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeMembers } from '../../src/auth/oauth/provider/object-times.ts';
import { sql } from '../../src/database/sql.ts';
import { onBothEngines, shared } from '../helper.ts';
import { registerCustomer } from '../shop-verbs.ts';
import {
  type Application,
  assertRefused,
  codeOf,
  implicitQueryOf,
  type ListeningShop,
  newApplication,
  openBrowser,
  openListeningShop,
  post,
  queryOf,
  redeeming,
  redirectParameters,
  tokensOf,
  withToken,
} from './flow.ts';

async function advance(shop: ListeningShop, duration: string): Promise<void> {
  const body = { advance: duration };
  const { status, text } = await shop.request('POST', '/v2/sandbox/clock', { as: shop.admin, body });
  assert.equal(status, 200, text);
}

const refresh = ({ url }: ListeningShop, app: Application, refresh_token: string) =>
  post(`${url}/oauth/token`, { grant_type: 'refresh_token', refresh_token }, app);

async function lifetimeOf({ url }: ListeningShop, app: Application, token: string): Promise<number | null> {
  const { json } = await post(`${url}/oauth/introspect`, { token }, app);
  return json.active ? json.exp - json.iat : null;
}

const statusOf = async (shop: ListeningShop, token: string) =>
  (await withToken(shop, token, 'GET', '/v2/cheeses')).status;

onBothEngines('While the clock is moved', (engine) => {
  const opened = shared(async (t) => {
    const shop = await openListeningShop(t, { engine });
    await registerCustomer(shop, { username: 'ada', role: 'staff' });
    return shop;
  });

  test('While the clock is moved, an access token is active for its hour, by use and by introspection', async () => {
    const shop = opened();
    const app = await newApplication(shop);
    await advance(shop, '40d');
    const { access_token: token } = await tokensOf(shop, app, openBrowser(shop.url, 'ada'));
    assert.equal(await lifetimeOf(shop, app, token), 3600);
    await advance(shop, '59m');
    assert.equal(await statusOf(shop, token), 200);
    assert.equal(await lifetimeOf(shop, app, token), 3600);
    await advance(shop, '2m');
    assert.equal(await statusOf(shop, token), 401);
    assert.equal(await lifetimeOf(shop, app, token), null);
  });

  test('While the clock is moved, a code is good for a minute', async () => {
    const shop = opened();
    const app = await newApplication(shop);
    const redeem = async (code: string) => post(`${shop.url}/oauth/token`, redeeming(app, code), app);
    const [early, late] = [
      await codeOf(app, openBrowser(shop.url, 'ada')),
      await codeOf(app, openBrowser(shop.url, 'ada')),
    ];
    await advance(shop, '20s');
    assert.equal((await redeem(early)).status, 200);
    await advance(shop, '45s');
    assertRefused(await redeem(late), 400, 'invalid_grant');
  });

  test('While the clock is moved, an implicit token and one of a machine end', async () => {
    const shop = opened();
    const page = await newApplication(shop, { isPublic: true, grants: ['implicit'] });
    const visit = await openBrowser(shop.url, 'ada').authorize(implicitQueryOf(page));
    const implicit = redirectParameters('fragment', visit);
    await endsAfter(shop, implicit.access_token, Number(implicit.expires_in));
    const machine = await newApplication(shop, { grants: ['client_credentials'] });
    const { json } = await post(`${shop.url}/oauth/token`, { grant_type: 'client_credentials' }, machine);
    await endsAfter(shop, json.access_token, json.expires_in);
  });

  test('While the clock is moved, a refresh token ends after fourteen days without use, and after thirty days', async () => {
    const shop = opened();
    const app = await newApplication(shop);
    const idle = await tokensOf(shop, app, openBrowser(shop.url, 'ada'));
    let used = await tokensOf(shop, app, openBrowser(shop.url, 'ada'));
    await advance(shop, '13d');
    used = (await refresh(shop, app, used.refresh_token)).json;
    await advance(shop, '2d');
    assertRefused(await refresh(shop, app, idle.refresh_token), 400, 'invalid_grant');
    used = (await refresh(shop, app, used.refresh_token)).json;
    assert.ok(used.refresh_token !== undefined);
    await advance(shop, '13d');
    used = (await refresh(shop, app, used.refresh_token)).json;
    assert.ok(used.refresh_token !== undefined);
    await advance(shop, '3d');
    assertRefused(await refresh(shop, app, used.refresh_token), 400, 'invalid_grant');
  });

  test('While the clock is moved, a login in the browser ends after its time', async () => {
    const shop = opened();
    const app = await newApplication(shop);
    const browser = openBrowser(shop.url, 'ada');
    await tokensOf(shop, app, browser);
    await advance(shop, '1h');
    const again = await browser.authorize(queryOf(app));
    assert.deepEqual(
      again.forms.filter((form) => form === 'login'),
      [],
    );
    await advance(shop, '31d');
    const later = await browser.authorize(queryOf(app));
    assert.deepEqual(
      later.forms.filter((form) => form === 'login'),
      ['login'],
    );
  });

  test('While the clock is moved, an approval of the scope admin ends after 90 days, and its tokens lose the scope', async () => {
    const shop = opened();
    const { approvals } = shop.app.oauth;
    const app = await newApplication(shop, { scopes: ['read:cheeses', 'admin'] });
    const ask = () => tokensOf(shop, app, openBrowser(shop.url, 'ada'), { scope: 'read:cheeses admin' });
    const adminStatus = async (token: string) =>
      (await withToken(shop, token, 'GET', '/v2/api-keys?account=nobody')).status;
    await ask();
    const [request] = await approvals.list();
    await approvals.approve(shop.app.contextOf('test'), request?.id ?? 0);
    const { access_token: first, expires_in: seconds } = await ask();
    assert.equal(await adminStatus(first), 404);
    await endsAfter(shop, first, seconds);
    await advance(shop, '89d');
    await advance(shop, '23h');
    await advance(shop, '40m');
    const { access_token: last } = await ask();
    assert.equal(await adminStatus(last), 404);
    await advance(shop, '10m');
    assert.equal(await adminStatus(last), 403);
    assert.equal(await statusOf(shop, last), 200);
  });
});

test('Members of stored objects that are numbers are times that are shifted, or known as none', async (t) => {
  const shop = await openListeningShop(t);
  const { database } = shop.app;
  await database.exclusiveTransaction((_, runScript) =>
    runScript(`
      create table seen (payload text);
      create trigger seen_new after insert on oauth_object begin insert into seen values (new.payload); end;
      create trigger seen_changed after update on oauth_object begin insert into seen values (new.payload); end;`),
  );
  await registerCustomer(shop, { username: 'ada' });
  const app = await newApplication(shop);
  const { refresh_token } = await tokensOf(shop, app, openBrowser(shop.url, 'ada'));
  await refresh(shop, app, refresh_token);
  const rows = await database.all<{ payload: string }>(sql`select payload from seen`);
  const found = new Set(rows.flatMap(({ payload }) => numbersIn(JSON.parse(payload))));
  const stored = timeMembers.filter((name) => !['nbf', 'consumed'].includes(name));
  assert.deepEqual([...found].toSorted(), [...stored, 'rotations'].toSorted());
});

async function endsAfter(shop: ListeningShop, token = '', seconds = 0): Promise<void> {
  await advance(shop, `${seconds - 30}s`);
  assert.equal(await statusOf(shop, token), 200);
  await advance(shop, '31s');
  assert.equal(await statusOf(shop, token), 401);
}

/** Paths of members that are numbers. */
function numbersIn(value: unknown, path = ''): string[] {
  if (typeof value === 'number') {
    return [path];
  }
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, member]) =>
        numbersIn(member, path === '' ? name : `${path}.${name}`),
      )
    : [];
}

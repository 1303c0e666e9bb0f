/** The pages for login and consent: headers, cookies and CSRF tokens. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { RawSettings } from '../../src/settings/config.ts';
import { registerCustomer } from '../shop-verbs.ts';
import { type Application, newApplication, openBrowser, openListeningShop, password } from './flow.ts';

const target = 'https://diary.example';
const redirectUri = `${target}/cb?from=shop`;
const foreign = { origin: 'https://evil.example' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const failed = 'This did not work';
const right = { username: 'ada', password, do: 'login' };

type Fields = Readonly<Record<string, string>>;
/** A response with its body. */
type Reply = Pick<Response, 'status' | 'headers'> & { readonly body: string; readonly location: string };

async function visit(t: TestContext, settings: RawSettings = {}) {
  const shop = await openListeningShop(t, { settings });
  const app = await newApplication(shop, { redirectUris: [redirectUri] });
  await registerCustomer(shop, { username: 'ada' });
  return visitorAt(shop.url, settings.CURD_PUBLIC_URL ?? shop.url, app);
}

/** A new browser. @param origin of the pages, as the shop sees it */
function visitorAt(url: string, origin: string, app: Application) {
  const { go, cookies } = openBrowser(url);

  async function send(method: string, path: string, headers: Fields = {}, body?: string): Promise<Reply> {
    const response = await go(path, { method, headers, ...(body === undefined ? {} : { body }) });
    const location = response.headers.get('location') ?? '';
    return { status: response.status, headers: response.headers, body: await response.text(), location };
  }
  /** Goes on for as long as it stays here. */
  const follow = async (reply: Reply, headers?: Fields): Promise<Reply> =>
    reply.location.startsWith('/') ? follow(await send('GET', reply.location, headers), headers) : reply;
  /** Asks for a token. */
  const open = async (headers?: Fields) => follow(await send('GET', askFor(app), headers), headers);
  /** Sends the form of a page. */
  function submit(page: Reply, fields: Fields, headers?: Fields): Promise<Reply> {
    const { action, token } = formOf(page);
    const body = String(new URLSearchParams({ token, ...fields }));
    return send('POST', action, { origin, ...form, ...headers }, body);
  }
  const another = () => visitorAt(url, origin, app);
  return { app, origin, cookies, send, follow, open, submit, another } as const;
}

const askFor = ({ clientId, redirectUri: back }: Application) =>
  `/oauth/authorize?client_id=${clientId}&response_type=code&redirect_uri=${encodeURIComponent(back)}`;

function formOf({ body }: Reply): { action: string; token: string } {
  const action = /<form method="post" action="([^"]+)">/.exec(body)?.[1];
  const token = /name="token" value="([^"]+)"/.exec(body)?.[1];
  assert.ok(action !== undefined && token !== undefined, `no form: ${body}`);
  return { action, token };
}

function assertHeaders({ headers }: Reply, formTarget = ''): void {
  const policy = `default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'${formTarget && ` ${formTarget}`}`;
  const expected = {
    'content-security-policy': `${policy}; frame-ancestors 'none'; base-uri 'none'`,
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  for (const [name, value] of Object.entries(expected)) {
    assert.equal(headers.get(name), value, name);
  }
  assert.ok(!/access-control-/.test([...headers.keys()].join()), 'RFC 9700, section 2.6');
}

function assertPage(reply: Reply, status: number, title: string, formTarget = ''): void {
  assert.equal(reply.status, status, reply.body);
  assert.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.ok(reply.body.includes(`<title>${title} - Cheese shop</title>`), reply.body);
  assert.doesNotMatch(reply.body, /<script|<iframe|<img| on\w+=|javascript:|style=/i);
  assertHeaders(reply, formTarget);
}

test('Every OAuth page, and every redirect between two, carries the headers that keep others out', async (t) => {
  const { app, send, open, submit, follow } = await visit(t);
  assertPage(await send('GET', '/oauth/logout', foreign), 200, 'You are not logged in');
  const login = await open(foreign);
  const wrong = await submit(login, { ...right, password: 'wrong' });
  assertPage(login, 200, 'Log in to go on to Cheese Diary', target);
  assertPage(wrong, 422, 'Log in to go on to Cheese Diary', target);
  assertPage(await submit(login, right, foreign), 403, failed);
  const entered = await submit(login, right);
  const consent = await follow(entered, foreign);
  assertPage(consent, 200, 'May Cheese Diary do this?', target);
  const allowed = await submit(consent, { do: 'allow' });
  const out = await follow(allowed, foreign);
  assert.match(out.location, /^https:\/\/diary\.example\/cb\?from=shop&code=/);
  for (const step of [entered, allowed, out]) {
    assert.equal(step.status, 303, 'RFC 9700, section 4.12');
    assertHeaders(step);
  }
  const logout = await send('GET', '/oauth/logout', foreign);
  assertPage(logout, 200, 'Log out');
  assertPage(await submit(logout, { do: 'logout' }), 200, 'You are logged out');
  const elsewhere = askFor({ ...app, redirectUri: 'https://evil.example/' });
  for (const path of ['authorize?client_id=nobody', elsewhere.slice(7), 'authorize/x', 'interaction/x']) {
    assertPage(await send('GET', `/oauth/${path}`, foreign), 400, failed);
  }
});

test('Cookies of the OAuth pages are for the server alone, each for one path, and with https for nothing else', async (t) => {
  for (const publicUrl of ['http://127.0.0.1:8080', 'https://shop.example']) {
    const isHttps = publicUrl.startsWith('https:');
    const visitor = await visit(t, { CURD_PUBLIC_URL: publicUrl });
    const set: string[] = [];
    const keeping = (reply: Reply) => {
      set.push(...reply.headers.getSetCookie());
      return reply;
    };
    const start = keeping(await visitor.send('GET', askFor(visitor.app)));
    const entered = keeping(await visitor.submit(await visitor.follow(start), right));
    const consent = await visitor.follow(keeping(await visitor.send('GET', entered.location)));
    const names = ['interaction', 'interaction.sig', 'resume', 'resume.sig', 'session', 'session.sig'];
    const given = set.map((text) => text.slice(0, text.indexOf('=')));
    assert.deepEqual(
      [...new Set(given)].sort(),
      names.map((name) => `${isHttps ? '__Secure-' : ''}curd_${name}`),
    );
    for (const text of set) {
      assert.match(text, /; path=\/oauth(\/(interaction|authorize)\/[\w-]+)?;/);
      assert.match(text, /; samesite=lax; (secure; )?httponly/);
      assert.doesNotMatch(text, /; domain=/i);
      assert.equal(/; secure/i.test(text), isHttps, text);
    }
    const out = await visitor.follow(await visitor.submit(consent, { do: 'allow' }));
    assert.equal(new URL(out.location).searchParams.get('iss'), publicUrl, 'RFC 9207');
    const logout = await visitor.send('GET', '/oauth/logout');
    assert.equal(logout.headers.has('strict-transport-security'), isHttps, 'RFC 6797');
    assertPage(await visitor.submit(logout, { do: 'logout' }), 200, 'You are logged out');
    assertPage(await visitor.send('GET', '/oauth/logout'), 200, 'You are not logged in');
  }
});

test('A form of the OAuth pages counts only with its own token and from a page of ours, and a forged one spoils nothing', async (t) => {
  const { origin, send, open, submit, follow, another } = await visit(t);
  const { token: foreignToken } = formOf(await another().open());
  const untrusted: Fields[] = [
    foreign,
    { origin: `${origin}.evil.example` },
    { origin: origin.replace('http:', 'https:') },
    { origin: '' },
    { origin: 'null' },
    ...['cross-site', 'same-site', 'none'].map((site) => ({ origin: 'null', 'sec-fetch-site': site })),
    { ...foreign, 'sec-fetch-site': 'same-origin' },
  ];
  async function assertGuarded(page: Reply, fields: Fields): Promise<void> {
    const { action, token } = formOf(page);
    for (const wrong of ['', 'x', token.slice(1), `${token}x`, token.toUpperCase(), foreignToken]) {
      assertPage(await submit(page, { ...fields, token: wrong }), 403, failed);
    }
    for (const headers of untrusted) {
      assertPage(await submit(page, fields, headers), 403, failed);
    }
    const body = String(new URLSearchParams({ ...fields, token }));
    for (const headers of [form, { ...form, 'sec-fetch-site': 'same-origin' }]) {
      assertPage(await send('POST', action, headers, body), 403, failed);
    }
    const bare = String(new URLSearchParams(fields));
    assertPage(await send('POST', action, { ...form, origin }, bare), 403, failed);
  }
  const login = await open();
  await assertGuarded(login, right);
  // Browsers send this origin when the page sends no referrer.
  const entered = await submit(login, right, { origin: 'null', 'sec-fetch-site': 'same-origin' });
  const consent = await follow(entered);
  await assertGuarded(consent, { do: 'allow' });
  assertPage(await submit(consent, { do: 'allow', token: formOf(login).token }), 403, failed);
  assert.equal((await submit(consent, { do: 'allow' })).status, 303);
  const logout = await send('GET', '/oauth/logout');
  await assertGuarded(logout, { do: 'logout' });
  assertPage(await send('GET', '/oauth/logout'), 200, 'Log out');
});

test('A login at the OAuth pages belongs to the browser in which it began', async (t) => {
  const victim = await visit(t);
  const attacker = victim.another();
  const [page, mine] = [await victim.open(), await attacker.open()];
  const path = formOf(page).action.replace('/login', '');
  assert.equal((await attacker.submit(mine, { ...right, token: formOf(page).token })).status, 403);
  const own = [...attacker.cookies].map(([key, { value }]) => `${key.split(' ')[0]}=${value}`).join('; ');
  const uid = path.split('/').at(-1);
  const guessed = own.replace(/(curd_\w+)=[\w-]+/g, `$1=${uid}`);
  assert.match(guessed, new RegExp(`^curd_interaction=${uid}; curd_interaction.sig=`));
  for (const address of [path, path.replace('interaction', 'authorize')]) {
    for (const cookie of ['', own, guessed, guessed.replace(/; \w+\.sig=[^;]+/g, '')]) {
      const reply = await fetch(victim.origin + address, { headers: { cookie }, redirect: 'manual' });
      // With cookies of one's own one gets on with one's own.
      const isElsewhere = reply.status === 303 && !reply.headers.get('location')?.includes(String(uid));
      assert.ok(reply.status === 400 || isElsewhere, `${address} ${cookie}: ${reply.status}`);
    }
  }
  assertPage(await attacker.submit(page, right), 400, failed);
  const withBlank = { ...right, username: `${right.username} ` };
  assert.equal((await victim.submit(page, withBlank)).status, 303);
});

test('A failed login at the OAuth pages does not give the reason, and too many are limited', async (t) => {
  const limits = JSON.stringify({ pair: 2 });
  const { open, submit } = await visit(t, { CURD_LOGIN_LIMITS: limits });
  const page = await open();
  const wrong = await submit(page, { ...right, password: 'wrong' });
  const nobody = await submit(page, { ...right, username: 'bob' });
  assert.equal(wrong.status, 422);
  assert.equal(nobody.body.replace('value="bob"', 'value="ada"'), wrong.body);
  assert.match(wrong.body, /role="alert" id="fault">The username or the password is wrong\.</);
  assert.ok(!wrong.body.includes('value="wrong"'), 'a password never comes back');
  await submit(page, { ...right, password: 'wrong' });
  const tooMany = await submit(page, right);
  assertPage(tooMany, 429, 'Log in to go on to Cheese Diary', target);
  const wait = Number(tooMany.headers.get('retry-after'));
  assert.ok(wait > 0 && wait <= 15 * 60, `Retry-After: ${wait}`);
});

test('A form of the OAuth pages is refused when it is too large, has another media type, or repeats a field', async (t) => {
  const { origin, send, open, submit } = await visit(t);
  const page = await open();
  const { action, token } = formOf(page);
  const body = String(new URLSearchParams({ token, ...right }));
  assertPage(await submit(page, { ...right, more: 'x'.repeat(16 * 1024) }), 413, failed);
  const urlEncoded = form['content-type'];
  for (const type of [
    ...['application/json', 'text/plain', 'multipart/form-data', `${urlEncoded}x`],
    ...[`${urlEncoded}; charset=utf-16`, `${urlEncoded}; charset=utf-8; charset=utf-8`],
  ]) {
    assertPage(await send('POST', action, { origin, 'content-type': type }, body), 415, failed);
  }
  for (const twice of ['token=x', `token=${token}`, 'do=cancel', 'username=bob', 'password=x']) {
    assertPage(await send('POST', action, { origin, ...form }, `${body}&${twice}`), 400, failed);
  }
  assert.equal((await submit(page, { ...right, more: 'x' })).status, 303);
});

test('Redirects of the OAuth pages do not depend on Host or on headers of a proxy', async (t) => {
  const { origin, open, submit, follow } = await visit(t);
  const lies = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example;proto=https',
  };
  const login = await open(lies);
  const consent = await follow(await submit(login, right, lies), lies);
  const out = await follow(await submit(consent, { do: 'allow' }, lies), lies);
  assert.ok(!`${login.body}${consent.body}${out.location}`.includes('evil.example'));
  assert.ok(out.location.startsWith(`${redirectUri}&code=`));
  assert.equal(new URL(out.location).searchParams.get('iss'), origin);
});

const methods: Readonly<Record<string, string>> = {
  'authorize authorize/x interaction/x': 'GET',
  'style.css': 'GET HEAD',
  'interaction/x/login interaction/x/consent token revoke introspect': 'POST',
  logout: 'GET POST',
};
const nowhere =
  'x jwks me userinfo reg request device session/end authorize/x/y interaction interaction/x/y token/x';

test('OAuth pages and endpoints accept only their methods; scripts of other origins reach only the endpoints for programs', async (t) => {
  const { send } = await visit(t);
  const all = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
  const preflight = { ...foreign, 'access-control-request-method': 'POST' };
  for (const [names, taken] of Object.entries(methods)) {
    const allow = [...taken.split(' '), 'OPTIONS'].sort().join(', ');
    for (const name of names.split(' ')) {
      for (const method of all.filter((one) => !taken.includes(one))) {
        const { status, headers } = await send(method, `/oauth/${name}`);
        assert.deepEqual([status, headers.get('allow')], [405, allow], `${method} ${name}`);
      }
      const { status, headers } = await send('OPTIONS', `/oauth/${name}`, preflight);
      assert.deepEqual([status, headers.get('allow')], [204, allow], name);
      const isOpen = headers.has('access-control-allow-origin');
      assert.equal(
        isOpen,
        /^(token|revoke|introspect|style\.css)$/.test(name),
        `RFC 9700, section 2.6: ${name}`,
      );
    }
  }
  for (const path of nowhere.split(' ')) {
    assert.equal((await send('GET', `/oauth/${path}`)).status, 404, path);
  }
});

test('The checks of an authorization request cannot be bypassed by the path', async (t) => {
  const { app, send } = await visit(t);
  const asked = askFor(app).slice('/oauth/authorize'.length);
  for (const hidden of [`${asked}&scope=unknown`, `/${asked}`, `../authorize${asked}`, '../token', '#x']) {
    const reply = await send('GET', `/oauth/authorize/${encodeURIComponent(hidden)}`);
    assert.ok([400, 404].includes(reply.status), `${hidden}: ${reply.status} ${reply.location}`);
    assertHeaders(reply);
  }
});

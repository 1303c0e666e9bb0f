/**
 * What a token needs, spoken over HTTP: a shop that listens, applications, and a person with a browser.
 *
 *     const shop = await openListeningShop(t, { engine });
 *     await registerCustomer(shop, { username: 'ada' });
 *     const app = await newApplication(shop, { scopes: ['read:orders'] });
 *     const tokens = await tokensOf(shop, app, openBrowser(shop.url, 'ada'), { scope: 'read:orders' });
 * What must hold of every page, cookie, redirect and error is asserted here, in passing.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Compile } from 'typebox/schema';
import { scopes } from '../../src/access/access.ts';
import type { ClientRequest } from '../../src/auth/oauth/clients.ts';
import { sql } from '../../src/database/sql.ts';
import { closed, operationsOf } from '../fuzz/openapi.ts';
import { read } from '../gates/sources.ts';
import type { Shop, TestResponse } from '../helper.ts';
import { password } from '../shop-verbs.ts';

export { type ListeningShop, openListeningShop } from '../helper.ts';
export { password };

/** RFC 7636, appendix B. */
export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

type Role = 'customer' | 'staff';

export async function setRole({ app }: Shop, username: string, role: Role): Promise<void> {
  const {
    customers: { administration: customerAdministration },
    contextOf,
  } = app;
  const id = await customerAdministration.idOf(username);
  await customerAdministration.changeRole(contextOf('test'), id, role);
}

export interface Application {
  readonly clientId: string;
  /** null for a public one. */
  readonly clientSecret: string | null;
  readonly redirectUri: string;
}

/** Registers an application, by default with all scopes that need no approval. */
export async function newApplication(shop: Shop, request: Partial<ClientRequest> = {}): Promise<Application> {
  const {
    auth: { keys },
    oauth: { clients },
    contextOf,
  } = shop.app;
  const account = await keys.createAccount(contextOf('test'), `partner-${randomBytes(6).toString('hex')}`);
  const isForMachines = request.grants?.join(' ') === 'client_credentials';
  const redirectUris = request.redirectUris ?? (isForMachines ? [] : ['https://app.example.com/cb']);
  const made = await clients.create(contextOf('test'), {
    name: 'Cheese Diary',
    accountId: account.id,
    scopes: scopes.filter((scope) => scope !== 'admin'),
    ...request,
    redirectUris,
  });
  return { ...made, redirectUri: redirectUris[0] ?? '' };
}

export type Parameters = Readonly<Record<string, string | undefined>>;

/** The query of a usual authorization request; undefined leaves a parameter out. */
export function queryOf(app: Application, more: Parameters = {}): URLSearchParams {
  const who = { client_id: app.clientId, redirect_uri: app.redirectUri };
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
  const all: Parameters = { ...who, response_type: 'code', state: 'xyz', ...pkce, ...more };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new URLSearchParams(given);
}

/** The query of an implicit request (RFC 6749, section 4.2.1). */
export function implicitQueryOf(app: Application, more: Parameters = {}): URLSearchParams {
  const none = { code_challenge: undefined, code_challenge_method: undefined };
  return queryOf(app, { response_type: 'token', ...none, ...more });
}

/** Where a browser ended: on a page of the shop, or redirected to another URL. */
export interface Visit {
  readonly status: number;
  readonly headers: Headers;
  readonly page: string;
  readonly location: string | null;
  /** Forms that were met: login, consent, logout. */
  readonly forms: readonly string[];
}

export interface FormChoices {
  readonly login?: 'login' | 'cancel' | undefined;
  readonly consent?: 'allow' | 'deny' | undefined;
}

export interface Browser {
  readonly cookies: ReadonlyMap<string, { readonly value: string; readonly path: string }>;
  /** One request, with the cookies that belong to it. */
  go(url: string, init?: RequestInit): Promise<Response>;
  /** Follows redirects and answers forms until there is no more to do here. */
  visit(url: string, responses?: FormChoices): Promise<Visit>;
  authorize(query: URLSearchParams, responses?: FormChoices): Promise<Visit>;
}

/** A browser without scripts. By default it logs in with the given username and allows everything. */
export function openBrowser(base: string, username = 'nobody', secret = password): Browser {
  const cookies = new Map<string, { value: string; path: string }>();

  async function go(url: string, init: RequestInit = {}): Promise<Response> {
    const target = new URL(url, base);
    const cookie = [...cookies]
      .filter(([, { path }]) => target.pathname === path || target.pathname.startsWith(`${path}/`))
      .map(([key, { value }]) => `${key.split(' ', 1)[0]}=${value}`)
      .join('; ');
    const headers = { ...(init.headers as object), ...(cookie === '' ? {} : { cookie }) };
    const response = await fetch(target, { redirect: 'manual', ...init, headers });
    for (const text of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = text.split('; ');
      const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
      const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? '/';
      assert.match(path, /^\/oauth/, text);
      assert.ok(attributes.some((one) => /^httponly$/i.test(one)) && /samesite=lax/i.test(text), text);
      cookies[value === '' ? 'delete' : 'set'](`${name} ${path}`, { value, path });
    }
    return response;
  }

  async function visit(url: string, responses: FormChoices = {}): Promise<Visit> {
    const chosen = { login: 'login', consent: 'allow', logout: 'logout', ...responses };
    const asked: string[] = [];
    let response = await go(url);
    for (let step = 0; step < 15; step += 1) {
      const page = await response.text();
      const { status, headers } = response;
      const location = headers.get('location');
      assert.equal(headers.get('access-control-allow-origin'), null, 'pages are for nobody else');
      if (location === null) {
        assertSafePage(response, page);
        const [, action] = /<form method="post" action="([^"]+)"/.exec(page) ?? [];
        const name = action?.split('/').at(-1);
        const answer = chosen[name as keyof typeof chosen];
        if (action === undefined || name === undefined || answer === undefined || asked.includes(name)) {
          return { status, headers, page, location: null, forms: asked };
        }
        asked.push(name);
        const [, token = ''] = /name="token" value="([^"]+)"/.exec(page) ?? [];
        const body = new URLSearchParams({ token, do: answer, username, password: secret });
        response = await go(action, { method: 'POST', body, headers: { origin: base } });
        assert.ok(response.status === 303 || response.headers.get('location') === null, 'RFC 9700, 4.12');
        continue;
      }
      if (new URL(location, base).origin !== base) {
        return { status, headers, page, location, forms: asked };
      }
      response = await go(location);
    }
    assert.fail(`the browser is sent in circles: ${asked}`);
  }

  return {
    cookies,
    go,
    visit,
    authorize: (query, responses) => visit(`/oauth/authorize?${query}`, responses),
  };
}

/** A page has no scripts, no frames, no referrer, and is not kept (RFC 9700, sections 4.2.4 and 4.16). */
export function assertSafePage({ headers }: Response, page: string): void {
  assert.match(headers.get('content-type') ?? '', /^text\/html/, page);
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none';.*form-action 'self'.*frame-ancestors 'none'; base-uri 'none'$/);
  assert.doesNotMatch(policy, /unsafe|script-src|\*/);
  assert.equal(headers.get('x-frame-options'), 'DENY');
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.match(headers.get('cache-control') ?? '', /no-store/);
  assert.doesNotMatch(page, /<script|\son\w+=|javascript:/i);
}

/** The parameters for the application: in the query or in the fragment, and never in both. */
export function redirectParameters(part: 'query' | 'fragment', { location, status, page }: Visit) {
  assert.ok(location !== null, `${status} ${page}`);
  const url = new URL(location);
  assert.equal(part === 'query' ? url.hash : url.search, '', location);
  const told = new URLSearchParams(part === 'query' ? url.search : url.hash.slice(1));
  assert.equal(new Set(told.keys()).size, [...told.keys()].length, location);
  return Object.fromEntries(told);
}

/** How an application shows who it is (RFC 6749, section 2.3.1). */
export type Method = 'basic' | 'post' | 'none';

const formEncoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);

export const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`;

/** Posts a form as an application, and checks what every response must have. */
export async function post(
  address: string,
  form: Readonly<Record<string, string>> | URLSearchParams,
  app: Application | null,
  method: Method = app?.clientSecret == null ? 'none' : 'basic',
) {
  const { clientId = '', clientSecret } = app ?? {};
  const body = new URLSearchParams(form);
  if (app !== null && method !== 'basic') {
    body.set('client_id', clientId);
  }
  if (method === 'post') {
    body.set('client_secret', clientSecret ?? '');
  }
  const headers = method === 'basic' ? { authorization: basic(clientId, clientSecret ?? '') } : {};
  return checkedResponse(await fetch(address, { method: 'POST', body, headers }));
}

const documented = operationsOf(JSON.parse(read('openapi.json')));

/** The OpenAPI document has the status of a response to POST, and a schema that its body fits. */
function assertDocumented(url: string, status: number, text: string): void {
  const { pathname } = new URL(url);
  const operation = documented.find(({ method, path }) => method === 'POST' && path === pathname);
  const response = operation?.responses[status];
  assert.ok(response !== undefined, `POST ${pathname} does not document ${status} ${text}`);
  const schema = response.content?.['application/json']?.schema;
  assert.equal(text !== '', schema !== undefined, `POST ${pathname} ${status}: ${text}`);
  assert.ok(
    schema === undefined || Compile(closed(schema) as object).Check(JSON.parse(text)),
    `POST ${pathname} ${status}: ${text}`,
  );
}

/** @returns the response, after checks that every response must pass. */
export async function checkedResponse(response: Response) {
  const { status, headers, url } = response;
  const text = await response.text();
  assert.ok(status < 500, `${status} ${text}`);
  assertDocumented(url, status, text);
  if (!url.endsWith('/revoke')) {
    assert.equal(headers.get('cache-control'), 'no-store', 'RFC 6749, section 5.1');
  }
  const json = text === '' ? undefined : JSON.parse(text);
  if (status >= 400) {
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
    const { error_description: description, code, type, message } = json;
    assert.match(json.error, /^[a-z_]+$/, text);
    assert.deepEqual([code, message, typeof type], [status, description, 'string'], text);
    assert.match(description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/, 'RFC 6749, section 5.2');
  }
  return { status, headers, json };
}

export type TokenResponse = Awaited<ReturnType<typeof post>>;

export function assertRefused(response: TokenResponse, status: number, error: string): void {
  assert.deepEqual([response.status, response.json?.error], [status, error], JSON.stringify(response.json));
}

/** A new code with the consent of the customer. */
export async function codeOf(app: Application, browser: Browser, more: Parameters = {}): Promise<string> {
  const { code } = redirectParameters('query', await browser.authorize(queryOf(app, more)));
  assert.ok(code !== undefined, 'no code came');
  return code;
}

/** The form that redeems it. */
export const redeeming = ({ redirectUri }: Application, code: string) =>
  ({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }) as const;

/** Tokens with the consent of the customer. */
export async function tokensOf(
  { url }: { readonly url: string },
  app: Application,
  browser: Browser,
  more: Parameters = {},
) {
  const code = await codeOf(app, browser, more);
  const { status, json } = await post(`${url}/oauth/token`, redeeming(app, code), app);
  assert.equal(status, 200, JSON.stringify(json));
  return json as { access_token: string; refresh_token: string; scope: string; expires_in: number };
}

/** Sends a request with a token (RFC 6750, section 2.1). */
export function withToken(
  shop: Shop,
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<TestResponse> {
  const headers = { authorization: `Bearer ${token}` };
  return shop.request(method, path, body === undefined ? { headers } : { headers, body });
}

/** Changes what is stored of all objects of a kind: the library's own clock is the machine's, and cannot be moved. */
export async function rewrite(
  { app }: Shop,
  model: string,
  change: (payload: Record<string, number>) => object,
): Promise<void> {
  const { database } = app;
  const rows = await database.all<{ id: string; payload: string }>(
    sql`select id, payload from oauth_object where model = ${model}`,
  );
  assert.ok(rows.length > 0, `no ${model} is stored`);
  for (const { id, payload } of rows) {
    const parsed = JSON.parse(payload);
    const changed = JSON.stringify({ ...parsed, ...change(parsed) });
    await database.run(
      sql`update oauth_object set payload = ${changed} where model = ${model} and id = ${id}`,
    );
  }
}

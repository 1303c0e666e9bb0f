/** The client in Chromium: sign-in, and uploads with progress; and what of that runs on servers. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { clientCredentials } from '../../client/oauth/index.ts';
import { Curd, isCurdError, type UploadProgress } from '../../client/src/index.ts';
import { imageIn } from '../api/image-forms.ts';
import { openPage, useChromium } from '../browser/chromium.ts';
import type { Scope } from '../context.ts';
import { newApplication, openListeningShop, password } from '../oauth/flow.ts';
import { registerCustomer } from '../shop-verbs.ts';
import { openProxy } from './proxy.ts';

useChromium();

const imageBytes = 9 * 1024 * 1024;

/** A JPEG of 9 MB: a small image with long comments, so that the server need not render much. */
async function largeImage(): Promise<Uint8Array<ArrayBuffer>> {
  const small = await imageIn('jpeg');
  const comments = Buffer.alloc(imageBytes - small.length);
  for (let at = 0; at < comments.length; at += 60_000) {
    const length = Math.min(60_000, comments.length - at);
    comments.writeUInt16BE(0xfffe, at);
    comments.writeUInt16BE(length - 2, at + 2);
  }
  return new Uint8Array(Buffer.concat([small.subarray(0, 2), comments, small.subarray(2)]));
}

async function bundle(contents: string): Promise<string> {
  const client = fileURLToPath(new URL('../../client/', import.meta.url));
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: client, loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

/** A web site with one page and its script, which passes other requests to the shop. */
async function openSite(t: Scope, shopUrl: string, script: () => Promise<string>) {
  const html = '<!doctype html><title>Shop</title><script type="module" src="/app.js"></script>';
  let text = '';
  const proxy = await openProxy(t, shopUrl, (_, { url = '' }) => {
    const [path] = url.split('?', 1);
    if (path === '/app') {
      return { refuse: { status: 200, headers: { 'Content-Type': 'text/html' }, body: html } };
    }
    if (path === '/app.js') {
      return { refuse: { status: 200, headers: { 'Content-Type': 'text/javascript' }, body: text } };
    }
    return { bytesPerSecond: 15_000_000 };
  });
  return {
    ...proxy,
    prepare: async () => {
      text = await script();
    },
  };
}

suite('Sign-in', () => {
  test('Sign-in in a page: code flow, one refresh for two tabs, and sign-out, after which the token is refused', async (t) => {
    const opened = await openPage(t);
    if (opened === null) {
      return;
    }
    const { page, complaints } = opened;
    // The page is where the codes of its application are sent, which suffices.
    const shop = await openListeningShop(t, { settings: { CURD_CORS_ORIGINS: 'https://shop.example' } });
    await registerCustomer(shop, { username: 'ada' });
    let options = '';
    const site = await openSite(t, shop.url, () =>
      bundle(`import { signIn } from './oauth/index.ts';
        signIn({ ...${options}, storage: localStorage }).then((session) => { globalThis.session = session; });`),
    );
    const app = await newApplication(shop, {
      isPublic: true,
      isNative: true,
      redirectUris: [`${site.url}/app`],
    });
    const { clientId, redirectUri } = app;
    options = JSON.stringify({ issuer: shop.url, clientId, redirectUri, scope: 'read:orders read:profile' });
    await site.prepare();

    await page.goto(`${site.url}/app?view=orders#newest`);
    await page.getByLabel('Username').fill('ada');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.waitForURL(`${site.url}/app?view=orders#newest`);
    await page.waitForFunction('globalThis.session');
    const tokenOf = async (tab: typeof page) => String(await tab.evaluate('session.token()'));
    const first = await tokenOf(page);
    const read = (token: string) => new Curd({ baseUrl: shop.url, token }).customers.get('ada');
    assert.equal((await read(first)).username, 'ada');

    const other = await page.context().newPage();
    await other.goto(`${site.url}/app`);
    await other.waitForFunction('globalThis.session');
    assert.equal(await tokenOf(other), first, 'the tabs share the sign-in');

    await page.evaluate(`
      const key = 'curd.tokens.${clientId}';
      localStorage.setItem(key, JSON.stringify({ ...JSON.parse(localStorage.getItem(key)), expiresAt: 0 }));`);
    let refreshes = 0;
    page.context().on('request', (request) => {
      refreshes += request.method() === 'POST' && request.url().endsWith('/oauth/token') ? 1 : 0;
    });
    const [second, third] = await Promise.all([tokenOf(page), tokenOf(other)]);
    assert.equal(second, third);
    assert.notEqual(second, first);
    assert.equal(refreshes, 1);
    assert.equal(await page.evaluate(`session.token('${second}')`).then((token) => token !== second), true);

    const last = await tokenOf(page);
    await page.evaluate('session.signOut()');
    await assert.rejects(read(last), { status: 401 });
    const refused = await other.evaluate('session.token().catch(({ name }) => name)');
    assert.equal(refused, 'SignInRequired');
    assert.deepEqual(complaints, []);
  });

  test('Sign-in of an application on a server: one token for all requests, and another after a refusal', async (t) => {
    const shop = await openListeningShop(t);
    const proxy = await openProxy(t, shop.url);
    const { clientId, clientSecret } = await newApplication(shop, { grants: ['client_credentials'] });
    const token = clientCredentials({
      issuer: shop.url,
      clientId,
      clientSecret: clientSecret ?? '',
      scope: 'read:cheeses',
    });
    const curd = new Curd({ baseUrl: proxy.url, token });
    const [first = '', ...others] = await Promise.all(Array.from({ length: 5 }, () => token()));
    assert.deepEqual(new Set(others), new Set([first]));
    await Promise.all([curd.cheeses.list(), curd.cheeses.list()]);
    assert.equal(await token(), first);
    const [second, third] = await Promise.all([token(first), token(first)]);
    assert.notEqual(second, first);
    assert.equal(third, second);
    const wrong = clientCredentials({
      issuer: shop.url,
      clientId,
      clientSecret: 'wrong',
      scope: 'read:cheeses',
    });
    await assert.rejects(wrong(), { name: 'WWWAuthenticateChallengeError' });
    await assert.rejects(wrong(), { name: 'WWWAuthenticateChallengeError' }, 'it is tried again');
  });
});

suite('An upload of 9 MB', () => {
  /** A shop with a cheese. */
  async function openShop(t: Scope) {
    const shop = await openListeningShop(t);
    const curd = new Curd({ baseUrl: shop.url, apiKey: shop.writer });
    return { shop, curd, cheese: await curd.cheeses.create({ name: 'Brie' }) };
  }

  function assertGrowing(progress: readonly UploadProgress[]): void {
    // A browser reports every 50 ms: on a fast machine few reports come before the last.
    assert.ok(progress.length > 1, `${progress.length} reports`);
    assert.deepEqual(progress.at(-1), { sent: imageBytes, total: imageBytes });
    for (const [index, { sent, total }] of progress.entries()) {
      assert.ok(sent > (progress[index - 1]?.sent ?? 0) && total === imageBytes);
    }
  }

  test('An upload of 9 MB on a server reports growing progress, and aborted in the middle it stores nothing', async (t) => {
    const { curd, cheese } = await openShop(t);
    const image = new Blob([await largeImage()], { type: 'image/jpeg' });
    const progress: UploadProgress[] = [];
    const options = { caption: 'A wheel', isPrimary: true };
    const result = await curd.cheeses.uploadImage(cheese.id, image, {
      ...options,
      onProgress: (report) => progress.push(report),
    });
    assert.equal(result.size, imageBytes);
    assertGrowing(progress);
    const [stored, ...others] = await Array.fromAsync(curd.cheeses.listImages(cheese.id));
    assert.deepEqual([stored?.caption, stored?.isPrimary, others.length], ['A wheel', true, 0]);

    const controller = new AbortController();
    const aborted = curd.cheeses.uploadImage(cheese.id, image, {
      signal: controller.signal,
      onProgress: ({ sent, total }) => sent > total / 2 && controller.abort(),
    });
    await assert.rejects(aborted, { name: 'AbortError' });
    assert.equal((await Array.fromAsync(curd.cheeses.listImages(cheese.id))).length, 1);
  });

  test('An upload of 9 MB is repeated after a lost response, and stored once', async (t) => {
    const { shop, cheese } = await openShop(t);
    const proxy = await openProxy(t, shop.url, (number) => ({ loseResponse: number === 1 }));
    const curd = new Curd({ baseUrl: proxy.url, apiKey: shop.writer });
    const image = new Blob([new Uint8Array(await imageIn('png'))]);
    await curd.cheeses.uploadImage(cheese.id, image, { onProgress: () => {} });
    assert.equal((await Array.fromAsync(curd.cheeses.listImages(cheese.id))).length, 1);
    const error = await curd.cheeses.uploadImage(cheese.id, new Blob(['text'])).catch((one) => one);
    assert.ok(isCurdError(error, 'unsupported_media_type'));
  });

  test('An upload of 9 MB in a page reports growing progress, and aborted in the middle it stores nothing', async (t) => {
    const opened = await openPage(t);
    if (opened === null) {
      return;
    }
    const { page } = opened;
    const { shop, curd, cheese } = await openShop(t);
    const image = Buffer.from(await largeImage());
    const site = await openSite(t, shop.url, () =>
      bundle("import { Curd } from './src/index.ts'; Object.assign(globalThis, { Curd });"),
    );
    await site.prepare();
    await page.goto(`${site.url}/app`);
    await page.waitForFunction('globalThis.Curd');
    await page.route('**/image', (route) => route.fulfill({ body: image, contentType: 'image/jpeg' }));
    const upload = (more: string) => `(async () => {
      const curd = new Curd({ baseUrl: '${site.url}', apiKey: '${shop.writer}' });
      const image = await (await fetch('/image')).blob();
      const progress = [];
      const controller = new AbortController();
      const onProgress = (report) => { progress.push(report); ${more} };
      const upload = curd.cheeses.uploadImage(${cheese.id}, image, { onProgress, signal: controller.signal });
      return upload.then(({ size }) => ({ size, progress }), ({ name }) => ({ name }));
    })()`;
    const result = (await page.evaluate(upload(''))) as { size: number; progress: UploadProgress[] };
    assert.equal(result.size, imageBytes);
    assertGrowing(result.progress);
    const aborted = await page.evaluate(upload('if (report.sent > report.total / 2) controller.abort();'));
    assert.deepEqual(aborted, { name: 'AbortError' });
    assert.equal((await Array.fromAsync(curd.cheeses.listImages(cheese.id))).length, 1);
    const refused = await page.evaluate(`new Curd({ baseUrl: '${site.url}', apiKey: '${shop.writer}' })
      .cheeses.uploadImage(${cheese.id}, new Blob(['text']), { onProgress: () => {} }).catch(({ type }) => type)`);
    assert.equal(refused, 'unsupported_media_type');
  });
});

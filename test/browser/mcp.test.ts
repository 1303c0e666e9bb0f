/** An MCP client gets a token with a person in a real browser, as the official client does it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { cleanUp } from '../context.ts';
import { newApplication, openListeningShop, password } from '../oauth/flow.ts';
import { newCheese, orderOf, registerCustomer } from '../shop-verbs.ts';
import { openPage, useChromium } from './chromium.ts';

useChromium();

test('The official MCP client gets a token for the MCP endpoint, and orders for the customer', async (t) => {
  const opened = await openPage(t);
  if (opened === null) {
    return;
  }
  const { page } = opened;
  const shop = await openListeningShop(t);
  await registerCustomer(shop, { username: 'ada' });
  // The loopback server of the client, on a port that the operator does not know.
  const loopback = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Done</title><p>Go back');
  });
  await once(loopback.listen(0, '127.0.0.1'), 'listening');
  cleanUp(t, () => {
    loopback.close();
    loopback.closeAllConnections();
  });
  const redirectUrl = `http://127.0.0.1:${(loopback.address() as AddressInfo).port}/callback`;
  const { clientId } = await newApplication(shop, {
    name: 'Shopping assistant',
    isPublic: true,
    isNative: true,
    redirectUris: ['http://127.0.0.1/callback'],
  });
  let saved: Awaited<ReturnType<OAuthClientProvider['tokens']>>;
  let verifier = '';
  let discovery: Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>;
  let visited: URL | undefined;
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl] },
    clientInformation: () => ({ client_id: clientId }),
    tokens: () => saved,
    saveTokens: (tokens) => {
      saved = tokens;
    },
    saveCodeVerifier: (text) => {
      verifier = text;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (state) => {
      discovery = state;
    },
    discoveryState: () => discovery,
    redirectToAuthorization: (url) => {
      visited = url;
    },
  };
  const newTransport = () =>
    new StreamableHTTPClientTransport(new URL(`${shop.url}/mcp`), { authProvider: provider });
  const newClient = () =>
    new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });

  const transport = newTransport();
  await assert.rejects(newClient().connect(transport), UnauthorizedError);
  assert.equal(visited?.searchParams.get('resource'), `${shop.url}/mcp`);
  assert.equal(visited.searchParams.get('code_challenge_method'), 'S256');
  await page.goto(String(visited));
  await page.getByLabel('Username').fill('ada');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.getByRole('heading', { name: 'Shopping assistant asks for your permission' }).waitFor();
  assert.deepEqual(await page.getByRole('listitem').allTextContents(), [
    'Look at the cheeses of the shop',
    'See your orders',
    'Place and cancel orders in your name',
  ]);
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.waitForURL(`${redirectUrl}?**`);
  await transport.finishAuth(new URL(page.url()).searchParams);
  assert.equal(saved?.scope, 'read:cheeses read:orders write:orders');

  const client = newClient();
  await client.connect(newTransport());
  cleanUp(t, () => client.close());
  const given = { ...orderOf(await newCheese(shop)), maxTotal: 10, idempotencyKey: 'for ada' };
  const { structuredContent } = await client.callTool({ name: 'place_order', arguments: given });
  const { id } = structuredContent as { id: number };
  const { json } = await shop.request('GET', `/v2/store/order/${id}/customer`, { as: shop.admin });
  assert.equal(json.username, 'ada');
  assert.deepEqual(opened.complaints, []);
});

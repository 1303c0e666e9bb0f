/** A strict third-party client, which refuses responses that break the RFCs. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as strict from 'oauth4webapi';
import { onBothEngines } from '../helper.ts';
import { registerCustomer } from '../shop-verbs.ts';
import { type Application, newApplication, openBrowser, openListeningShop } from './flow.ts';

/** For the tests alone: without TLS. */
const options = { [strict.allowInsecureRequests]: true };

async function discover(url: string): Promise<strict.AuthorizationServer> {
  const issuer = new URL(url);
  const response = await strict.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
  const server = await strict.processDiscoveryResponse(issuer, response);
  assert.equal(server.issuer, url, 'RFC 8414, section 3.3: character by character');
  return server;
}

const clientOf = ({ clientId }: Application): strict.Client => ({ client_id: clientId });

/** Requests a code with the client, and redeems it. */
async function codeFlow(
  server: strict.AuthorizationServer,
  app: Application,
  authentication: strict.ClientAuth,
  scope: string,
) {
  const verifier = strict.generateRandomCodeVerifier();
  const state = strict.generateRandomState();
  const query = new URLSearchParams({
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    response_type: 'code',
    scope,
    state,
    code_challenge: await strict.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const browser = openBrowser(server.issuer, 'ada');
  const { location } = await browser.visit(`${server.authorization_endpoint}?${query}`);
  assert.ok(location !== null);
  const told = strict.validateAuthResponse(server, clientOf(app), new URL(location), state);
  assert.equal(told.get('iss'), server.issuer);
  return strict.processAuthorizationCodeResponse(
    server,
    clientOf(app),
    await strict.authorizationCodeGrantRequest(
      server,
      clientOf(app),
      authentication,
      told,
      app.redirectUri,
      verifier,
      options,
    ),
  );
}

onBothEngines('A strict client', (engine) => {
  test('A strict client gets tokens by code and PKCE, refreshes, introspects and revokes them (RFC 6749, 7636, 9207, 7662, 7009)', async (t) => {
    const shop = await openListeningShop(t, { engine });
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop);
    const client = clientOf(app);
    const server = await discover(shop.url);
    const scope = 'read:cheeses read:profile';
    for (const authentication of [
      strict.ClientSecretBasic(app.clientSecret ?? ''),
      strict.ClientSecretPost(app.clientSecret ?? ''),
    ]) {
      const tokens = await codeFlow(server, app, authentication, scope);
      assert.deepEqual([tokens.token_type, tokens.expires_in, tokens.scope], ['bearer', 3600, scope]);
      const profile = new URL('/v2/customer/ada', server.issuer);
      const read = (token: string) =>
        strict.protectedResourceRequest(token, 'GET', profile, undefined, undefined, options);
      const shown = (await (await read(tokens.access_token)).json()) as { username: string };
      assert.equal(shown.username, 'ada');

      const fresh = await strict.processRefreshTokenResponse(
        server,
        client,
        await strict.refreshTokenGrantRequest(
          server,
          client,
          authentication,
          tokens.refresh_token ?? '',
          options,
        ),
      );
      assert.notEqual(fresh.refresh_token, tokens.refresh_token);
      const introspect = async () =>
        strict.processIntrospectionResponse(
          server,
          client,
          await strict.introspectionRequest(server, client, authentication, fresh.access_token, options),
        );
      const known = await introspect();
      assert.deepEqual([known.active, known.client_id, known.scope], [true, app.clientId, scope]);

      await strict.processRevocationResponse(
        await strict.revocationRequest(server, client, authentication, fresh.refresh_token ?? '', options),
      );
      assert.deepEqual(await introspect(), { active: false });
      await assert.rejects(
        read(fresh.access_token),
        (error: strict.WWWAuthenticateChallengeError) =>
          error.status === 401 &&
          error.cause[0]?.scheme === 'bearer' &&
          error.cause[0].parameters.error === 'invalid_token',
      );
    }
  });
});

suite('A strict machine', () => {
  test('A strict machine gets a token for itself (RFC 6749, 4.4)', async (t) => {
    const shop = await openListeningShop(t);
    const app = await newApplication(shop, { grants: ['client_credentials'] });
    const server = await discover(shop.url);
    const response = await strict.processClientCredentialsResponse(
      server,
      clientOf(app),
      await strict.clientCredentialsGrantRequest(
        server,
        clientOf(app),
        strict.ClientSecretBasic(app.clientSecret ?? ''),
        { scope: 'read:cheeses' },
        options,
      ),
    );
    assert.deepEqual(
      [response.token_type, response.expires_in, response.scope, response.refresh_token],
      ['bearer', 3600, 'read:cheeses', undefined],
    );
  });
});

test('A strict public client gets tokens without a secret, at any loopback port (RFC 8252, 7.3)', async (t) => {
  const shop = await openListeningShop(t);
  await registerCustomer(shop, { username: 'ada' });
  const registered = await newApplication(shop, {
    isNative: true,
    isPublic: true,
    redirectUris: ['http://127.0.0.1/callback'],
  });
  const app = { ...registered, redirectUri: 'http://127.0.0.1:54321/callback' };
  const tokens = await codeFlow(await discover(shop.url), app, strict.None(), 'read:cheeses');
  assert.ok(tokens.refresh_token !== undefined);
});

test('A strict client reads error and issuer from an error response (RFC 6749, 4.1.2.1; RFC 9207)', async (t) => {
  const shop = await openListeningShop(t);
  await registerCustomer(shop, { username: 'ada' });
  const app = await newApplication(shop);
  const server = await discover(shop.url);
  const query = new URLSearchParams({
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    response_type: 'code',
    state: 'mine',
  });
  const { location } = await openBrowser(shop.url, 'ada').visit(`${server.authorization_endpoint}?${query}`, {
    consent: 'deny',
  });
  assert.throws(
    () => strict.validateAuthResponse(server, clientOf(app), new URL(location ?? ''), 'mine'),
    (error: strict.AuthorizationResponseError) => error.error === 'access_denied',
  );
  const refused = await strict.genericTokenEndpointRequest(
    server,
    clientOf(app),
    strict.ClientSecretBasic('wrong'),
    'client_credentials',
    {},
    options,
  );
  await assert.rejects(
    strict.processGenericTokenEndpointResponse(server, clientOf(app), refused),
    (error: strict.WWWAuthenticateChallengeError) =>
      error.status === 401 && error.cause[0]?.scheme === 'basic',
  );
});

test('The OAuth metadata names all endpoints, and each of them exists (RFC 8414, 2)', async (t) => {
  const shop = await openListeningShop(t);
  const server = await discover(shop.url);
  assert.deepEqual(server.response_types_supported, ['code', 'token']);
  assert.deepEqual(server.code_challenge_methods_supported, ['S256']);
  assert.equal(server.authorization_response_iss_parameter_supported, true);
  assert.ok(!server.grant_types_supported?.includes('password'), 'RFC 9700, section 2.4');
  assert.deepEqual(
    Object.keys(server).filter((name) => /jwks|userinfo|registration|claims|id_token|request/.test(name)),
    [],
  );
  for (const name of ['authorization', 'token', 'revocation', 'introspection'] as const) {
    const address = server[`${name}_endpoint`] ?? '';
    assert.ok(address.startsWith(`${shop.url}/oauth/`), address);
    const response = await fetch(address, { method: name === 'authorization' ? 'GET' : 'POST' });
    await response.arrayBuffer();
    assert.ok([400, 401].includes(response.status), `${address} ${response.status}`);
  }
});

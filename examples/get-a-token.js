/**
 * An application on the machine of a customer gets a token by OAuth 2.0: authorization code with PKCE, and a redirect to
 * a port of this machine (RFC 8252). It needs no package. Register it once, then run it and open the URL that it prints:
 *
 *     CLIENT_ID=$(npx curd clients create "My first application" --account local --native --public \
 *       --scope "read:cheeses read:profile" --redirect-uri http://127.0.0.1/callback)
 *     CLIENT_ID=$CLIENT_ID node examples/get-a-token.js [http://127.0.0.1:8080]
 *
 * Without an argument it uses CURD_PUBLIC_URL or CURD_PORT, as the server does.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';

const { CURD_PORT, CURD_PUBLIC_URL } = process.env;
const url = process.argv[2] || CURD_PUBLIC_URL || `http://127.0.0.1:${CURD_PORT || 8080}`;
const shop = url.replace(/\/$/, '');
const clientId = process.env.CLIENT_ID;
if (!clientId) {
  console.error('Set CLIENT_ID to the value that "curd clients create" printed.');
  process.exit(1);
}

// The metadata of the server contains all URLs (RFC 8414).
const server = await (await fetch(`${shop}/.well-known/oauth-authorization-server`)).json();

// The secret of this login (RFC 7636). Its hash is sent now, the secret itself only with the code.
const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');
const state = randomBytes(16).toString('base64url');

const listener = createServer().listen(0, '127.0.0.1');
await new Promise((resolve) => listener.once('listening', resolve));
const redirectUri = `http://127.0.0.1:${listener.address().port}/callback`;

const query = new URLSearchParams({
  client_id: clientId,
  redirect_uri: redirectUri,
  response_type: 'code',
  scope: 'read:cheeses read:profile',
  state,
  code_challenge: challenge,
  code_challenge_method: 'S256',
});
console.log(`Open this URL in a browser:\n\n  ${server.authorization_endpoint}?${query}\n`);

const callback = await new Promise((resolve) => {
  listener.on('request', (request, response) => {
    const url = new URL(request.url, redirectUri);
    if (url.pathname !== '/callback') {
      response.writeHead(404).end();
      return;
    }
    response.end('Done: you can close this page and go back to the terminal.');
    resolve(url.searchParams);
  });
});
listener.close();
listener.closeAllConnections();

// The response must belong to this request and come from this server (RFC 9207).
if (callback.get('state') !== state || callback.get('iss') !== server.issuer) {
  throw new Error('The response belongs to another login.');
}
if (callback.has('error')) {
  throw new Error(`${callback.get('error')}: ${callback.get('error_description')}`);
}

const response = await fetch(server.token_endpoint, {
  method: 'POST',
  body: new URLSearchParams({
    grant_type: 'authorization_code',
    code: callback.get('code'),
    redirect_uri: redirectUri,
    client_id: clientId,
    code_verifier: verifier,
  }),
});
const token = await response.json();
if (!response.ok) {
  throw new Error(`${token.error}: ${token.error_description}`);
}
console.log(`A token for ${token.expires_in} seconds, with the scopes ${token.scope}.`);

const headers = { Authorization: `Bearer ${token.access_token}` };
// The paths of the customer's profile and orders contain the username.
const { customer } = await (await fetch(`${shop}/v2/whoami`, { headers })).json();
console.log(`It acts for the customer ${customer}.`);

const list = await fetch(`${shop}/v2/cheeses?limit=3`, { headers });
const { items, total } = await list.json();
console.log(`With it, ${total} cheeses can be read: ${items.map(({ name }) => name).join(', ')} ...`);

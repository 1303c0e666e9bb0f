/**
 * The server of a web shop: it serves the page beside it, and passes the requests of the page to Curd. Needs a running
 * Curd server and a key that may place orders and nothing else:
 *
 *     WRITER=${WRITER:-$(npx curd keys create --account local --scope "write:cheeses write:orders")}
 *     KEY=$WRITER node examples/storefront/serve.js [http://127.0.0.1:8080]
 *
 * Then open http://127.0.0.1:8090 (PORT changes the port). Without an argument it uses CURD_PUBLIC_URL or CURD_PORT, as
 * the server does. Behind a proxy that appends to X-Forwarded-For, set PROXY=1.
 *
 * The page gets no credential. The API key stays in this process. The session of a customer is a cookie that scripts
 * cannot read, so a script that an attacker brings into the page cannot steal it. Only the requests in `routes` are
 * passed on: whatever else the key permits, the page cannot do it.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const { CURD_PORT, CURD_PUBLIC_URL, KEY: key, PORT: port = '8090', PROXY } = process.env;
const shop = (process.argv[2] || CURD_PUBLIC_URL || `http://127.0.0.1:${CURD_PORT || 8080}`).replace(
  /\/$/,
  '',
);
if (!key) {
  console.error('Set KEY to an API key with the scope write:orders.');
  process.exit(1);
}

/** What the page may send, and the credentials of these requests. An order needs both, so that it has a customer. */
const routes = [
  { method: 'GET', path: /^\/v2\/cheeses$/, key },
  { method: 'GET', path: /^\/v2\/shop$/, key },
  { method: 'GET', path: /^\/v2\/cheeses\/\d+\/(images|availability)$/, key },
  { method: 'POST', path: /^\/v2\/quotes$/, key, statesVisitor: true },
  { method: 'POST', path: /^\/v2\/store\/order$/, key, needsSession: true },
  { method: 'GET', path: /^\/v2\/customer\/[^/]+\/orders$/, needsSession: true },
  { method: 'DELETE', path: /^\/v2\/customer\/[^/]+\/orders\/\d+$/, needsSession: true },
  { method: 'POST', path: /^\/v2\/customer$/, key, statesVisitor: true },
  { method: 'POST', path: /^\/v2\/customer\/login$/, key, statesVisitor: true, startsSession: true },
  { method: 'POST', path: /^\/v2\/customer\/logout$/, needsSession: true, endsSession: true },
];
const sentHeaders = ['content-type', 'idempotency-key', 'dry-run'];
const returnedHeaders = ['content-type', 'x-request-id', 'retry-after', 'ratelimit', 'dry-run'];
const bodyMax = 64 * 1024;

// In your own project, install @curd/client and remove the alias. A production build writes the file once.
const script = await build({
  entryPoints: [fileURLToPath(new URL('page.js', import.meta.url))],
  alias: { '@curd/client': fileURLToPath(new URL('../../client/src/index.ts', import.meta.url)) },
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  write: false,
});
const read = (name) => readFileSync(new URL(name, import.meta.url));
const files = {
  '/': { type: 'text/html; charset=utf-8', body: read('index.html') },
  '/style.css': { type: 'text/css; charset=utf-8', body: read('style.css') },
  '/page.js': { type: 'text/javascript; charset=utf-8', body: script.outputFiles[0].contents },
};
const pageHeaders = {
  'Content-Security-Policy': `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src ${shop} https: data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const server = createServer((request, response) => {
  handle(request, response).catch((error) => {
    console.error(`${request.method} ${request.url}: ${error.message}`);
    refuse(response, 502, 'The shop cannot be reached. Try again in a minute.');
  });
});

async function handle(request, response) {
  const { pathname, search } = new URL(request.url, 'http://storefront');
  const file = request.method === 'GET' ? files[pathname] : undefined;
  if (file !== undefined) {
    response.writeHead(200, { ...pageHeaders, 'Content-Type': file.type }).end(file.body);
    return;
  }
  const route = routes.find(({ method, path }) => method === request.method && path.test(pathname));
  if (route === undefined) {
    refuse(response, 404, 'The storefront does not offer this.');
    return;
  }
  // A page of another site must not act for the customer. Browsers send this header with every POST and DELETE.
  const { origin, host } = request.headers;
  if (request.method !== 'GET' && origin !== undefined && origin.replace(/^https?:\/\//, '') !== host) {
    refuse(response, 403, 'The request comes from a page of another site.');
    return;
  }
  const session = /(?:^|; )session=([\w.-]+)/.exec(request.headers.cookie ?? '')?.[1];
  if (route.needsSession && session === undefined) {
    refuse(response, 401, 'Log in first.');
    return;
  }
  const body = await bodyOf(request);
  if (body === null) {
    refuse(response, 413, `The request has more than ${bodyMax} bytes.`);
    return;
  }
  await pass(route, {
    path: pathname + search,
    headers: request.headers,
    visitor: visitorOf(request),
    session,
    body,
    response,
  });
}

/**
 * The IP address of the visitor. All logins come from this server, so Curd would count wrong passwords of one visitor
 * against all of them. Only the last address is the word of the proxy: the visitor can send others before it.
 */
function visitorOf({ headers, socket }) {
  return PROXY ? headers['x-forwarded-for']?.split(',').at(-1).trim() : socket.remoteAddress;
}

/** Sends the request to the shop, and its response to the page. */
async function pass(route, { path, headers, visitor, session, body, response }) {
  const reply = await fetch(shop + path, {
    method: route.method,
    headers: {
      ...Object.fromEntries(
        sentHeaders.filter((name) => name in headers).map((name) => [name, headers[name]]),
      ),
      ...(route.key === undefined ? {} : { 'X-API-Key': route.key }),
      ...(route.statesVisitor && visitor !== undefined ? { 'Curd-Client-IP': visitor } : {}),
      ...(route.needsSession ? { Authorization: `Bearer ${session}` } : {}),
    },
    ...(body.length === 0 ? {} : { body }),
    signal: AbortSignal.timeout(30_000),
  });
  for (const name of returnedHeaders.filter((name) => reply.headers.has(name))) {
    response.setHeader(name, reply.headers.get(name));
  }
  let text = await reply.text();
  if (route.startsSession && reply.ok) {
    const { token, expiresAt } = JSON.parse(text);
    const seconds = Math.floor((Date.parse(expiresAt) - Date.now()) / 1000);
    response.setHeader('Set-Cookie', cookie(token, seconds));
    text = JSON.stringify({ expiresAt });
  }
  // A session that the shop refuses has ended.
  if (route.endsSession || (route.needsSession && reply.status === 401)) {
    response.setHeader('Set-Cookie', cookie('', 0));
  }
  response.writeHead(reply.status, { 'Cache-Control': 'no-store' }).end(text);
}

/** Behind a proxy with https, add `Secure`. */
const cookie = (value, seconds) => `session=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}`;

/** The body of a request, or null if it is too large. */
async function bodyOf(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= bodyMax) {
      chunks.push(chunk);
    }
  }
  return length > bodyMax ? null : Buffer.concat(chunks);
}

/** An error in the form of the API, which the client package knows. */
function refuse(response, status, message) {
  const type = { 401: 'unauthorized', 403: 'forbidden', 404: 'not_found', 413: 'payload_too_large' }[status];
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ code: status, type: type ?? 'internal_error', message }));
}

server.listen(Number(port), '127.0.0.1', () => {
  console.log(`The storefront of ${shop} is at http://127.0.0.1:${server.address().port}`);
});

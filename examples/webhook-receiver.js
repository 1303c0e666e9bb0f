/**
 * A receiver of webhooks: it verifies the signature of each request (Standard Webhooks) and prints the event. It needs
 * no package. Set WEBHOOK_SECRET to the secret of the endpoint:
 *
 *     WEBHOOK_SECRET=whsec_... node examples/webhook-receiver.js
 *
 * POST /break makes it return 500 for every webhook, and POST /repair ends that, to see what the shop does then.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { WEBHOOK_SECRET = '', RECEIVER_PORT = '9000' } = process.env;
const key = Buffer.from(WEBHOOK_SECRET.replace(/^whsec_/, ''), 'base64');
if (key.length === 0) {
  console.error('Set WEBHOOK_SECRET to the secret of the endpoint. Its creation and its rotation print it.');
  process.exit(1);
}
const toleranceSeconds = 300;
/** A real receiver stores the ids together with what it does: an event can arrive twice. */
const seen = new Set();
let isBroken = false;

/** Is the request from the shop, unchanged and recent? During a rotation there are several signatures. */
function isAuthentic(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const expected = Buffer.from(`v1,${digest}`);
  const isRecent = Math.abs(Date.now() / 1000 - Number(timestamp)) < toleranceSeconds;
  return (
    isRecent &&
    signatures.split(' ').some((one) => {
      const given = Buffer.from(one);
      return given.length === expected.length && timingSafeEqual(given, expected);
    })
  );
}

function statusFor({ url, headers }, body) {
  if (url === '/break' || url === '/repair') {
    isBroken = url === '/break';
    return 204;
  }
  // The signature covers the bytes of the body: verify it before the JSON is parsed.
  if (!isAuthentic(headers, body)) {
    return 401;
  }
  if (isBroken) {
    return 500;
  }
  const { id, type, subject } = JSON.parse(body);
  console.log(`${type} ${subject} ${id}${seen.has(id) ? ' (again: ignored)' : ''}`);
  seen.add(id);
  return 204;
}

/** Larger than any event: a cheese with 100 photo URLs has less. */
const bodyBytesMax = 1024 * 1024;

const server = createServer(async (request, response) => {
  try {
    const chunks = [];
    let bytes = 0;
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes > bodyBytesMax) {
        response.writeHead(413, { Connection: 'close' }).end();
        return;
      }
      chunks.push(chunk);
    }
    response.writeHead(statusFor(request, Buffer.concat(chunks).toString('utf8'))).end();
  } catch (error) {
    // The sender is gone, or its body is no event.
    console.error(`A request was not processed: ${error.message}`);
    response.destroy();
  }
});
server.listen(Number(RECEIVER_PORT), '127.0.0.1', () => {
  console.log(`Waiting for webhooks at http://127.0.0.1:${server.address().port}/`);
});

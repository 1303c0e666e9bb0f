/** Checks that a webhook comes from the shop, and returns its event. */
import { Webhook } from 'standardwebhooks';
import type { CurdEvent, Schemas } from '../src/types.ts';

/** What the server sends for `webhookEndpoints.test`. It is not in the event log. */
export type WebhookTest = Schemas['WebhookTest'];

/** An event as a webhook. `type` decides what `data` contains. */
export type WebhookEvent = (CurdEvent | WebhookTest) & {
  /** The event before this one for this endpoint. If you do not know it, list the events since the last you know. */
  readonly previousId: string | null;
};

export type RefusalReason = 'no_signature' | 'bad_signature' | 'too_old' | 'body_was_parsed' | 'bad_secret';

/** The request must not be processed. Respond with 400. */
export class WebhookRefused extends Error {
  override name = 'WebhookRefused';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A request of a framework: its headers, and its body before it was parsed. */
export interface RawRequest {
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string | Uint8Array | ArrayBuffer;
}

/** Standard Webhooks recommend it: an attacker who recorded a request cannot send it again later. */
const toleranceMs = 5 * 60 * 1000;

/**
 * Checks the signature of a webhook.
 * @param request a Fetch `Request`, or headers and raw body
 * @param secrets the `whsec_` secret of the endpoint, or several while it is rotated
 * @throws WebhookRefused
 */
export async function verify(
  request: Request | RawRequest,
  secrets: string | readonly string[],
): Promise<WebhookEvent> {
  const body = await rawBody(request);
  const id = headerOf(request, 'webhook-id');
  const timestamp = headerOf(request, 'webhook-timestamp');
  const signature = headerOf(request, 'webhook-signature');
  if (!id || !timestamp || !signature) {
    throw new WebhookRefused(
      'no_signature',
      'webhook-id, webhook-timestamp or webhook-signature is missing. This request is not a webhook of the shop, or a proxy removed its headers.',
    );
  }
  const [first = '', ...more] = [secrets].flat();
  const webhooks = [first, ...more].map(webhookOf);
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  checkTime(timestamp);
  if (!webhooks.some((webhook) => isSignedBy(webhook, body, headers))) {
    throw new WebhookRefused(
      'bad_signature',
      'The signature does not match. The secret is that of another endpoint or was rotated, or the body was changed on its way.',
    );
  }
  return JSON.parse(body);
}

async function rawBody(request: Request | RawRequest): Promise<string> {
  if ('text' in request) {
    return request.bodyUsed ? refuseParsed('its body was read already') : request.text();
  }
  const { body } = request;
  if (typeof body === 'string') {
    return body;
  }
  const isRaw = body instanceof ArrayBuffer || ArrayBuffer.isView(body);
  return isRaw
    ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)
    : refuseParsed(`the body is of type ${typeof body}`);
}

function refuseParsed(found: string): never {
  throw new WebhookRefused(
    'body_was_parsed',
    `The signature covers the bytes of the body, but ${found}. Give the raw body. Express: ` +
      "express.raw({ type: 'application/json' }) on this route, then request.body. Fastify: " +
      "addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => done(null, body)). " +
      'Next: await request.text() in a route handler; in a page of the API, bodyParser: false. Hono: context.req.raw.',
  );
}

function headerOf({ headers }: Request | RawRequest, name: string): string | undefined {
  if (headers instanceof Headers) {
    return headers.get(name) ?? undefined;
  }
  const value = (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name];
  return typeof value === 'object' ? value[0] : value;
}

function webhookOf(secret: string): Webhook {
  try {
    return new Webhook(secret);
  } catch {
    throw new WebhookRefused(
      'bad_secret',
      'The secret is not valid: it must be whsec_ and base64, as the response to the creation of the endpoint shows it.',
    );
  }
}

function checkTime(timestamp: string): void {
  const sentAt = Number(timestamp) * 1000;
  const now = Date.now();
  if (!(Math.abs(now - sentAt) <= toleranceMs)) {
    const sent = Number.isNaN(new Date(sentAt).getTime()) ? timestamp : new Date(sentAt).toISOString();
    throw new WebhookRefused(
      'too_old',
      `The webhook was sent at ${sent}, and the clock of this machine says ${new Date(now).toISOString()}. They must not differ by more than five minutes. Check the clock.`,
    );
  }
}

function isSignedBy(webhook: Webhook, body: string, headers: Record<string, string>): boolean {
  try {
    webhook.verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

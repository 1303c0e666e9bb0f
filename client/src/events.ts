/** The event stream: server-sent events over `fetch`, which can send credentials. */
import { createParser } from 'eventsource-parser';
import { type Api, parseBody, readText } from './api.ts';
import { type CurdError, isCurdError } from './errors.ts';
import { sleep } from './retries.ts';
import type { CurdEvent, EventPattern, Query } from './types.ts';

export interface StreamOptions {
  /** Types such as `order.shipped`, or `order.*`. All by default. */
  readonly types?: readonly EventPattern[] | undefined;
  /** One subject, such as `order:31`. */
  readonly subject?: string | undefined;
  /** The id of the last event that was processed, a time, `earliest`, or `latest` (the default). */
  readonly since?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A message of the stream. After a lost connection the stream continues at its position. */
interface Block {
  readonly position: string;
  /** Absent in a heartbeat. */
  readonly event?: CurdEvent;
}

const reconnectDelayMaxMs = 30_000;
/** The server sends a heartbeat every 15 s. Without one, the connection is lost. */
const silenceMaxMs = 45_000;

/**
 * Yields every event once, in order. The next one is read when the caller asks for it.
 * @throws CurdError if the first connection fails, or the server refuses a later one: Gone, Unauthorized, Forbidden
 */
export async function* streamEvents(
  api: Api,
  { types, subject, since = 'latest', signal }: StreamOptions,
): AsyncGenerator<CurdEvent, never, undefined> {
  const filters = { types: types && [...types], subject };
  let position = since;
  if (since === 'latest') {
    // A fixed position, so that an event that comes while the connection is lost is not missed.
    position = (await api.get('/v2/events', { query: { since, limit: 1 } }, { signal })).next;
  }
  const server = { retryMs: 2000 };
  let wasConnected = false;
  for (let failures = 0; ; failures += 1) {
    let retryAfterMs = 0;
    try {
      const body = await connect(api, { ...filters, since: position }, signal);
      wasConnected = true;
      for await (const block of blocksOf(body, server, signal)) {
        failures = 0;
        position = block.position;
        if (block.event !== undefined) {
          yield block.event;
        }
      }
    } catch (error) {
      if (!wasConnected || (isCurdError(error) && !isTemporary(error))) {
        throw error;
      }
      retryAfterMs = isCurdError(error) ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    }
    const delayMs = Math.min(server.retryMs * 2 ** failures, reconnectDelayMaxMs);
    await sleep(Math.max(retryAfterMs, delayMs * (0.5 + Math.random() / 2)), signal);
  }
}

function isTemporary({ status }: CurdError): boolean {
  return status === 0 || status === 429 || status >= 500;
}

async function connect(api: Api, query: Query<'streamEvents'>, signal: AbortSignal | undefined) {
  const request = api.requestOf('GET', '/v2/events/stream', { query });
  // A proxy may respond with a page of its own.
  const isStream = ({ ok, headers }: Response) =>
    ok && headers.get('Content-Type')?.startsWith('text/event-stream');
  const read = (response: Response) =>
    isStream(response) ? Promise.resolve(response.body) : readText(response);
  const { value, ...reply } = await api.http.send<ReadableStream<Uint8Array> | string | null>(
    request,
    { signal },
    read,
  );
  return value instanceof ReadableStream
    ? value
    : parseBody<never>({ ...reply, value: value ?? '' }, request);
}

/** The blocks of one connection. Nothing is read while the caller works, so the server waits too. */
async function* blocksOf(
  body: ReadableStream<Uint8Array>,
  server: { retryMs: number },
  signal: AbortSignal | undefined,
): AsyncGenerator<Block, void, undefined> {
  const blocks: Block[] = [];
  const parser = createParser({
    onEvent: ({ id = '', data }) => blocks.push({ position: id, event: JSON.parse(data) }),
    onComment: (position) => blocks.push({ position }),
    onRetry: (retryMs) => {
      server.retryMs = retryMs;
    },
  });
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal?.addEventListener('abort', cancel, { once: true });
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const silence = setTimeout(cancel, silenceMaxMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) {
        return;
      }
      parser.feed(decoder.decode(value, { stream: true }));
      yield* blocks.splice(0);
    }
  } finally {
    signal?.removeEventListener('abort', cancel);
    cancel();
  }
}

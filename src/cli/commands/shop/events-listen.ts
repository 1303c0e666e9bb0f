/** `curd events listen`: forwards events to a receiver under development, as signed webhooks. Needs a key, no database. */
import { createInterface } from 'node:readline';
import { Curd, type CurdEvent, type EventPattern, isCurdError } from '../../../../client/src/index.ts';
import { Queue } from '../../../../client/src/queue.ts';
import { systemClock } from '../../../clock.ts';
import { parseSettings } from '../../../settings/config.ts';
import { ConfigError } from '../../../settings/parsers.ts';
import { publicBaseUrl } from '../../../settings/urls.ts';
import { sign } from '../../../webhooks/requests/signed-request.ts';
import type { listenOptions } from '../../framework/event-options.ts';
import type { OptionsOf } from '../../framework/options.ts';
import { printResult } from '../../framework/output.ts';
import { keyInEnvironment, rawSettings } from '../../framework/run-command.ts';

/** The time that the server waits for a receiver. */
const timeoutMs = 15_000;

interface Outcome {
  readonly id: string;
  readonly type: string;
  /** null if there was no response. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly error: string | null;
}

/** Forwards events in order, one at a time, until it is interrupted. */
export async function listenToEvents(options: OptionsOf<typeof listenOptions>): Promise<void> {
  const server =
    options.server ?? publicBaseUrl(parseSettings(rawSettings(options), ['host', 'port', 'publicUrl']));
  const apiKey = options.key || keyInEnvironment();
  if (apiKey === undefined) {
    throw new ConfigError('An API key is needed. Set CURD_KEY, or give it with --key.');
  }
  const secret = options.webhookSecret ?? `whsec_${Buffer.from(systemClock.random(32)).toString('base64')}`;
  const { forwardTo, since } = options;
  printResult(
    options,
    { server, forwardTo, secret },
    `Events of ${server} are forwarded to ${forwardTo}, signed with ${secret}. Enter r to send the last one again, Ctrl+C to end.`,
  );

  const stop = new AbortController();
  const end = () => stop.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  const lines = createInterface({ input: process.stdin });
  const queue = new Queue(1);
  let last: { readonly event: CurdEvent; readonly previousId: string | null } | undefined;
  const forwardLast = () =>
    queue.run(async () => {
      if (last !== undefined) {
        const outcome = await forward(forwardTo, secret, last.event, last.previousId);
        printResult(options, outcome, outcomeText(outcome));
      }
    });
  lines.on('line', (line) => {
    if (line.trim() === 'r') {
      void forwardLast();
    }
  });
  try {
    // The server checks the types, because a newer one may have more.
    const types = options.types as EventPattern[] | undefined;
    const stream = new Curd({ baseUrl: server, apiKey }).events.stream({ types, since, signal: stop.signal });
    for await (const event of stream) {
      last = { event, previousId: last?.event.id ?? null };
      await forwardLast();
    }
  } catch (error) {
    if (!stop.signal.aborted) {
      throw isCurdError(error) ? new ConfigError(error.message) : error;
    }
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end);
    lines.close();
  }
  if (last !== undefined && !options.json) {
    process.stderr.write(`Continue with --since ${last.event.id}\n`);
  }
}

async function forward(
  url: string,
  secret: string,
  event: CurdEvent,
  previousId: string | null,
): Promise<Outcome> {
  const body = JSON.stringify({ ...event, previousId });
  const seconds = Math.floor(systemClock.now() / 1000);
  const startedAt = performance.now();
  const { id, type } = event;
  const outcome = (status: number | null, error: string | null) => ({
    id,
    type,
    status,
    durationMs: Math.round(performance.now() - startedAt),
    error,
  });
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': sign([keyOf(secret)], id, seconds, body),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    return outcome(response.status, null);
  } catch (error) {
    const { cause, message } = error as Error;
    return outcome(null, cause instanceof Error && cause.message !== '' ? cause.message : message);
  }
}

const outcomeText = ({ id, type, status, durationMs, error }: Outcome) =>
  `${type} ${id} -> ${status ?? error} (${durationMs} ms)`;

const keyOf = (secret: string) => Buffer.from(secret.slice('whsec_'.length), 'base64');

/** Sends a test ping to an endpoint at once and reports the result. It is not in the log, and not sent again. */
import packageJson from '../../package.json' with { type: 'json' };
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Database } from '../database/database.ts';
import { AppError } from '../errors.ts';
import { toBase62 } from '../random-text.ts';
import { requireFound } from './endpoint.ts';
import { endpointQueries } from './endpoint-queries.ts';
import { type EndpointRow, webhookQueries } from './queries.ts';
import { attemptError, toRequest } from './request.ts';
import { type EndpointSecrets, parseSecrets, secretUnreadable } from './secrets.ts';
import type { WebhookTargets } from './sender.ts';

/** Of an endpoint. */
export const pingsMax = 5;
const minuteMs = 60_000;

export interface PingResult {
  /** null where there was no response. */
  readonly status: number | null;
  readonly durationMs: number;
  /** null for a success. */
  readonly error: string | null;
  readonly response: string | null;
}

/** @throws AppError notFound, rateLimited, conflict where the secret cannot be read */
export type TestPing = (context: Context, endpointId: number) => Promise<PingResult>;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly secrets: EndpointSecrets;
  readonly targets: WebhookTargets;
}

export function createTestPing({ database, clock, secrets, targets }: Dependencies): TestPing {
  /** Counted under the lock of the endpoint, so over all instances. */
  function count(endpointId: number): Promise<EndpointRow> {
    return database.transaction(async (tx) => {
      const row = requireFound(await webhookQueries(tx).lockEndpointForUpdate(endpointId));
      const now = clock.now();
      // A time in the future was written while a clock was ahead.
      const recent = (await endpointQueries(tx).listTestPings(endpointId)).filter(
        (at) => at > now - minuteMs && at <= now,
      );
      if (recent.length >= pingsMax) {
        throw new AppError(
          'rateLimited',
          `${pingsMax} test pings were sent to this endpoint within a minute. Wait as long as Retry-After says.`,
          { details: { retryAfterMs: (recent[0] ?? now) + minuteMs - now } },
        );
      }
      await endpointQueries(tx).updateTestPings(endpointId, [...recent, now]);
      return row;
    });
  }

  return async (context, endpointId) => {
    const row = await count(endpointId);
    const now = clock.now();
    const keys = secrets.signingKeys(endpointId, parseSecrets(row.secrets), now);
    if (keys === null) {
      throw new AppError('conflict', secretUnreadable);
    }
    const id = `evt_test_${toBase62(clock.random(12))}`;
    const body = JSON.stringify({
      id,
      type: 'webhook.test',
      timestamp: timestamp(now),
      sequence: null,
      subject: `webhook_endpoint:${endpointId}`,
      actor: context.origin.actor,
      requestId: context.origin.requestId,
      data: {},
      previousId: null,
    });
    const { createWebhookSender } = await import('./sender.ts');
    const sender = createWebhookSender(targets, clock.now);
    try {
      const result = await sender.send(
        toRequest({ url: row.url, id, body, at: now, keys, version: packageJson.version }),
      );
      const { status, durationMs, response } = result;
      return { status, durationMs, error: attemptError(result), response };
    } finally {
      sender.close();
    }
  };
}

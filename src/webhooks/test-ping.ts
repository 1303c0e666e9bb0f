/**
 * Sends a test ping to an endpoint at once and reports the result. It is not in the log, and not sent again. If it is
 * accepted, the deliveries that wait are due.
 */
import packageJson from '../../package.json' with { type: 'json' };
import { type Clock, machineTime, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Database } from '../database/database.ts';
import { AppError } from '../errors.ts';
import { toBase62 } from '../random-text.ts';
import { wakeWaiting } from './delivery/delivery-order.ts';
import { countManualAttempt } from './delivery/manual-attempts.ts';
import { requireFound } from './endpoint.ts';
import { afterTest } from './health.ts';
import { type EndpointRow, webhookQueries } from './queries.ts';
import type { WebhookTargets } from './requests/sender.ts';
import { attemptError, toRequest } from './requests/signed-request.ts';
import { type EndpointSecrets, parseSecrets, secretUnreadable } from './secrets.ts';

export interface PingResult {
  /** null if there was no response. */
  readonly status: number | null;
  readonly durationMs: number;
  /** null for a success. */
  readonly error: string | null;
  readonly response: string | null;
}

/** @throws AppError notFound, rateLimited, conflict if the secret cannot be read */
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
      await countManualAttempt(tx, endpointId, clock.now());
      return row;
    });
  }

  /** The receiver works again: what waits for it need not wait longer. */
  function recover(endpointId: number, url: string): Promise<void> {
    return database.transaction(async (tx) => {
      const row = await webhookQueries(tx).lockEndpointForUpdate(endpointId);
      if (row?.status === 'enabled' && row.url === url) {
        await webhookQueries(tx).updateHealth(afterTest(row));
        await wakeWaiting(tx, endpointId, clock.now());
      }
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
    const { createWebhookSender } = await import('./requests/sender.ts');
    const sender = createWebhookSender(targets, () => machineTime(clock));
    try {
      const result = await sender.send(
        toRequest({ url: row.url, id, body, at: machineTime(clock), keys, version: packageJson.version }),
      );
      const { status, durationMs, response } = result;
      const error = attemptError(result);
      if (error === null) {
        await recover(endpointId, row.url);
      }
      return { status, durationMs, error, response };
    } finally {
      sender.close();
    }
  };
}

/**
 * Stores the results of attempts: completes deliveries, and pauses or disables endpoints. After the last attempt a
 * delivery fails for good (a dead letter): it stays in the list, and can be resent.
 */
import { timestamp } from '../../clock.ts';
import type { Origin } from '../../database/context.ts';
import type { Sql } from '../../database/database.ts';
import type { LogEventRow } from '../../event-log/reading/log-reader.ts';
import type { LeasedAttempt } from '../../jobs/leases.ts';
import type { Finished } from '../../jobs/outbox.ts';
import { disableEndpoint } from '../disable.ts';
import type { DisabledReason } from '../event-types.ts';
import { afterFailure, afterSuccess, isRecovery } from '../health.ts';
import { type DeliveryRow, type EndpointRow, webhookQueries } from '../queries.ts';
import type { SendResult } from '../requests/sender.ts';
import { attemptError } from '../requests/signed-request.ts';
import { addJobsOfLines, wakeAfterSuccess } from './delivery-order.ts';

/** An attempt that was begun. */
export interface DeliveryAttempt extends LeasedAttempt {
  readonly endpoint: Pick<EndpointRow, 'id' | 'url'>;
  /** The delivery before the attempt. */
  readonly delivery: DeliveryRow;
  readonly event: LogEventRow;
  readonly keys: readonly Uint8Array[];
  readonly number: number;
  readonly at: number;
}

export type Outcome = 'delivered' | 'retried' | 'given_up';

interface StoredResult {
  readonly outcome: Outcome;
  /** Why the endpoint was disabled; null if it was not. */
  readonly disabled: DisabledReason | null;
  /** The endpoint as it is now. */
  readonly changed: EndpointRow;
}

/** @param endpoint locked */
export async function storeDeliveryResult(
  tx: Sql,
  origin: Origin,
  endpoint: EndpointRow,
  { attempt, result, isOver, now }: Finished<DeliveryAttempt, SendResult>,
): Promise<StoredResult> {
  const queries = webhookQueries(tx);
  const { delivery, number, at } = attempt;
  const { status, durationMs, response } = result;
  const error = attemptError(result);
  await queries.updateAttempt({
    delivery_id: delivery.id,
    number,
    duration_ms: durationMs,
    status,
    error,
    response: status === null ? null : response,
  });
  if (error === null) {
    await endDelivery(tx, delivery, { status: 'delivered', last_status: status, last_error: null }, now);
    const healthy = { ...endpoint, ...afterSuccess(endpoint) };
    if (endpoint.failing_since !== null) {
      await queries.updateHealth(healthy);
    }
    if (isRecovery(endpoint, now)) {
      await wakeAfterSuccess(tx, endpoint.id, now);
    }
    return { outcome: 'delivered', disabled: null, changed: healthy };
  }
  const failing = { ...endpoint, ...afterFailure(endpoint, timestamp(at), status, now) };
  await queries.updateHealth(failing);
  if (!isOver) {
    const waiting = { status: 'waiting', last_status: status, last_error: error, ended_at: null } as const;
    await queries.updateDelivery({ id: delivery.id, ...waiting });
    return { outcome: 'retried', disabled: null, changed: failing };
  }
  const disabled = await giveUp(tx, origin, failing, delivery, { status, error }, now);
  const changed = disabled === null ? failing : ({ ...failing, status: 'disabled' } as const);
  return { outcome: 'given_up', disabled, changed };
}

/**
 * Ends a delivery after its last attempt, and disables the endpoint if it is gone or has accepted nothing since the
 * first attempt.
 * @param endpoint locked, with all failures
 * @returns why the endpoint was disabled; null if it was not
 */
export async function giveUp(
  tx: Sql,
  origin: Origin,
  endpoint: EndpointRow,
  delivery: DeliveryRow,
  { status, error }: { readonly status: number | null; readonly error: string },
  now: number,
): Promise<DisabledReason | null> {
  await endDelivery(tx, delivery, { status: 'failed', last_status: status, last_error: error }, now);
  const reason = await reasonToDisable(tx, endpoint, delivery, status);
  if (reason !== null) {
    await disableEndpoint(tx, origin, endpoint.id, reason, now);
  }
  return reason;
}

async function reasonToDisable(
  tx: Sql,
  endpoint: EndpointRow,
  delivery: DeliveryRow,
  status: number | null,
): Promise<DisabledReason | null> {
  if (endpoint.status === 'disabled') {
    return null;
  }
  if (status === 410) {
    return 'gone';
  }
  const first = await webhookQueries(tx).findAttempt(delivery.id, 1);
  const { failing_since } = endpoint;
  const isFailing = first !== undefined && failing_since !== null && failing_since <= first.at;
  return isFailing ? 'failing' : null;
}

/** The next delivery of the line gets its job. */
export async function endDelivery(
  tx: Sql,
  { id, endpoint_id, subject }: DeliveryRow,
  end: Pick<DeliveryRow, 'last_status' | 'last_error'> & { readonly status: 'delivered' | 'failed' },
  now: number,
): Promise<void> {
  await webhookQueries(tx).updateDelivery({ id, ...end, ended_at: timestamp(now) });
  await addJobsOfLines(tx, endpoint_id, [subject], now);
}

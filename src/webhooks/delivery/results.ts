/**
 * Stores the results of attempts: completes deliveries, plans the next attempt, and pauses or disables endpoints. After
 * the last attempt a delivery fails for good (a dead letter): it stays in the list, and can be resent.
 */
import { type Clock, timestamp } from '../../clock.ts';
import type { Origin } from '../../database/context.ts';
import type { Sql } from '../../database/database.ts';
import type { LogEventRow } from '../../event-log/reading/log-reader.ts';
import { type LeasedJob, leasedJobs } from '../../jobs/leases.ts';
import { disableEndpoint } from '../disable.ts';
import type { DisabledReason } from '../event-types.ts';
import { afterFailure, afterSuccess, isRecovery } from '../health.ts';
import { type DeliveryRow, type EndpointRow, webhookQueries } from '../queries.ts';
import type { SendResult } from '../requests/sender.ts';
import { attemptError } from '../requests/signed-request.ts';
import { addJobsOfLines, deliveryKind, wakeAfterSuccess } from './delivery-order.ts';
import { nextAttemptMs } from './retry-schedule.ts';

/** An attempt that was begun. */
export interface DeliveryAttempt {
  readonly endpoint: Pick<EndpointRow, 'id' | 'url'>;
  /** The delivery before the attempt. */
  readonly delivery: DeliveryRow;
  readonly job: LeasedJob;
  readonly event: LogEventRow;
  readonly keys: readonly Uint8Array[];
  readonly number: number;
  readonly at: number;
}

/** An attempt with its result. */
export interface Finished {
  readonly attempt: DeliveryAttempt;
  readonly result: SendResult;
}

export type Outcome = 'delivered' | 'retried' | 'given_up';

export interface StoredResult {
  readonly outcome: Outcome;
  /** Why the endpoint was disabled; null where it was not. */
  readonly disabled: DisabledReason | null;
}

interface Tools {
  readonly clock: Clock;
  readonly origin: Origin;
}

/** Results of one endpoint, in order. null where another attempt has begun since, or the endpoint was deleted. */
export async function storeResults(
  tx: Sql,
  tools: Tools,
  endpointId: number,
  results: readonly Finished[],
): Promise<(StoredResult | null)[]> {
  let endpoint = await webhookQueries(tx).lockEndpointForUpdate(endpointId);
  const stored: (StoredResult | null)[] = [];
  for (const finished of results) {
    const plan = planOf(tools.clock, finished);
    if (endpoint === undefined || !(await releaseJob(tx, finished, plan))) {
      stored.push(null);
    } else {
      const [result, changed] = await store(tx, tools, endpoint, finished, plan);
      stored.push(result);
      endpoint = changed;
    }
  }
  return stored;
}

/** What follows from a result. */
interface Plan {
  readonly now: number;
  /** null for a success. */
  readonly error: string | null;
  /** null where there is no further attempt. */
  readonly waitMs: number | null;
}

function planOf(clock: Clock, { attempt, result }: Finished): Plan {
  const now = clock.now();
  const error = attemptError(result);
  if (error === null) {
    return { now, error, waitMs: null };
  }
  const { status, retryAfterMs } = result;
  const asked = status === 429 || status === 503 ? retryAfterMs : 0;
  const random = (clock.random(1)[0] ?? 0) / 255;
  return {
    now,
    error,
    waitMs: status === 410 ? null : nextAttemptMs(attempt.number - attempt.job.early_attempts, random, asked),
  };
}

/** Returns false where the attempt is not the latest one. */
function releaseJob(tx: Sql, { attempt: { job } }: Finished, { now, error, waitMs }: Plan): Promise<boolean> {
  return waitMs === null
    ? leasedJobs(tx).end(deliveryKind, job)
    : leasedJobs(tx).postpone(deliveryKind, job, now + waitMs, error ?? '');
}

async function store(
  tx: Sql,
  { origin }: Tools,
  endpoint: EndpointRow,
  { attempt, result }: Finished,
  { now, error, waitMs }: Plan,
): Promise<[StoredResult, EndpointRow]> {
  const queries = webhookQueries(tx);
  const { delivery, number, at } = attempt;
  const { status, durationMs, response } = result;
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
    return [{ outcome: 'delivered', disabled: null }, healthy];
  }
  const failing = { ...endpoint, ...afterFailure(endpoint, timestamp(at), status, now) };
  await queries.updateHealth(failing);
  if (waitMs !== null) {
    const waiting = { status: 'waiting', last_status: status, last_error: error, ended_at: null } as const;
    await queries.updateDelivery({ id: delivery.id, ...waiting });
    return [{ outcome: 'retried', disabled: null }, failing];
  }
  const disabled = await giveUp(tx, origin, failing, delivery, { status, error }, now);
  const changed = disabled === null ? failing : ({ ...failing, status: 'disabled' } as const);
  return [{ outcome: 'given_up', disabled }, changed];
}

/**
 * Ends a delivery after its last attempt, and disables the endpoint where it is gone or has accepted nothing since the
 * first attempt.
 * @param endpoint locked, with all failures
 * @returns why the endpoint was disabled; null where it was not
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

/**
 * Sends deliveries, as background jobs under leases. A claim begins attempts in one transaction, the requests are sent
 * outside of any, and a second transaction stores each result. A server that dies in between has sent the request or
 * not; after the lease the delivery is sent again with the same id.
 */
import { type Clock, timestamp } from '../clock.ts';
import type { Origin } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { type LogEventRow, readEvents, toEvent } from '../events/log-reader.ts';
import type { LeaseHandler } from '../jobs/lease-worker.ts';
import {
  deleteJobsOfLane,
  endLeasedJob,
  type LeasedJob,
  leaseJobs,
  postponeLeasedJob,
} from '../jobs/leases.ts';
import type { Log } from '../log.ts';
import { disableEndpoint } from './disable.ts';
import type { DisabledReason } from './event-types.ts';
import { afterFailure, afterSuccess, runningMaxOf } from './health.ts';
import { addJobsOfLines, deliveryKind, laneOf } from './lines.ts';
import { type DeliveryRow, type EndpointRow, webhookQueries } from './queries.ts';
import { toRequest } from './request.ts';
import { attemptsMax, nextAttemptMs } from './schedule.ts';
import { type EndpointSecrets, parseSecrets } from './secrets.ts';
import type { SendResult, WebhookSender } from './sender.ts';

/** Well above the time-out of a request. */
const leaseMs = 60_000;
const orphansOfABlock = 500;
const stopped = 'the server stopped before the result was known';
const expired = 'the event has expired';

/** An attempt that was begun. */
export interface DeliveryAttempt {
  readonly endpoint: Pick<EndpointRow, 'id' | 'url'>;
  /** As before the attempt. */
  readonly delivery: DeliveryRow;
  readonly job: LeasedJob;
  readonly event: LogEventRow;
  readonly keys: readonly Uint8Array[];
  readonly number: number;
  readonly at: number;
}

export type Outcome = 'delivered' | 'retried' | 'given_up';

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  readonly secrets: EndpointSecrets;
  readonly sender: WebhookSender;
  /** Of events that endpoints were disabled. */
  readonly origin: Origin;
  /** Of Curd. */
  readonly version: string;
  readonly onOutcome: (outcome: Outcome) => void;
}

export function createDeliveryHandler(dependencies: Dependencies): LeaseHandler<DeliveryAttempt> {
  const { database, clock, log, secrets, sender, origin, version, onOutcome } = dependencies;

  async function claim(lane: string, max: number): Promise<readonly DeliveryAttempt[]> {
    const id = Number(lane);
    const claimed = await database.transaction(async (tx) => {
      const now = clock.now();
      const endpoint = await webhookQueries(tx).lockEndpointForUpdate(id);
      if (endpoint === undefined) {
        await deleteJobsOfLane(tx, laneOf(id), orphansOfABlock);
        return [];
      }
      const runningMax = runningMaxOf(endpoint, now);
      if (runningMax === 0) {
        return [];
      }
      const keys = secrets.signingKeys(id, parseSecrets(endpoint.secrets), now);
      if (keys === null) {
        await disableEndpoint(tx, origin, id, 'secret_unreadable', now);
        return null;
      }
      const jobs = await leaseJobs(tx, laneOf(id), { max, runningMax }, now, leaseMs);
      return jobs.length === 0 ? [] : beginAttempts(tx, { endpoint, keys, jobs, now });
    });
    if (claimed === null) {
      logDisabled(id, 'secret_unreadable');
    }
    return claimed ?? [];
  }

  async function beginAttempts(
    tx: Sql,
    claim: {
      readonly endpoint: EndpointRow;
      readonly keys: readonly Uint8Array[];
      readonly jobs: readonly LeasedJob[];
      readonly now: number;
    },
  ): Promise<DeliveryAttempt[]> {
    const { endpoint, keys, jobs, now } = claim;
    const deliveries = await webhookQueries(tx).listDeliveries(jobs.map(({ key }) => Number(key)));
    const events = await readEvents(
      tx,
      deliveries.map(({ sequence }) => sequence),
    );
    const attempts: DeliveryAttempt[] = [];
    for (const job of jobs) {
      const delivery = deliveries.find(({ id }) => String(id) === job.key);
      const event = delivery && events.get(delivery.sequence);
      if (delivery === undefined || delivery.ended_at !== null) {
        await endLeasedJob(tx, deliveryKind, job);
        continue;
      }
      const isInterrupted = delivery.status === 'sending';
      if (isInterrupted) {
        await webhookQueries(tx).updateAttempt({
          delivery_id: delivery.id,
          number: delivery.attempts,
          duration_ms: null,
          status: null,
          error: stopped,
          response: null,
        });
      }
      if (event === undefined || delivery.attempts >= attemptsMax) {
        await endLeasedJob(tx, deliveryKind, job);
        await giveUp(tx, delivery, null, event === undefined ? expired : stopped, now);
        continue;
      }
      const number = delivery.attempts + 1;
      attempts.push({ endpoint, delivery, job, event, keys, number, at: now });
    }
    if (attempts.length > 0) {
      const begun = attempts.map(({ delivery }) => delivery);
      await webhookQueries(tx).insertAttempts(begun, timestamp(now));
      await webhookQueries(tx).markSending(begun.map(({ id }) => id));
    }
    return attempts;
  }

  async function giveUp(
    tx: Sql,
    { id, endpoint_id, subject }: DeliveryRow,
    status: number | null,
    error: string,
    now: number,
  ): Promise<void> {
    await webhookQueries(tx).updateDelivery({
      id,
      status: 'failed',
      last_status: status,
      last_error: error,
      ended_at: timestamp(now),
    });
    await addJobsOfLines(tx, endpoint_id, [subject], now);
  }

  async function run(attempt: DeliveryAttempt): Promise<void> {
    const result = await sender.send(requestOf(attempt));
    const stored = await database.transaction((tx) => store(tx, attempt, result));
    if (stored !== null) {
      onOutcome(stored.outcome);
      if (stored.disabled !== null) {
        logDisabled(attempt.endpoint.id, stored.disabled);
      }
    }
  }

  function requestOf({ endpoint, delivery, event, keys, at }: DeliveryAttempt) {
    const { event_id: id, previous_id, kind } = delivery;
    const parentId = Buffer.from(clock.random(8)).toString('hex');
    return toRequest({
      url: endpoint.url,
      id,
      body: `${toEvent(event, id).slice(0, -1)},"previousId":${JSON.stringify(previous_id)}}`,
      at,
      keys,
      version,
      headers: {
        ...(event.trace_id === null ? {} : { traceparent: `00-${event.trace_id}-${parentId}-01` }),
        ...(kind === 'replay' ? { 'Curd-Replay': 'true' } : {}),
      },
    });
  }

  /** null where another attempt has begun since, or the endpoint was deleted. */
  async function store(
    tx: Sql,
    { endpoint: { id }, delivery, job, number, at }: DeliveryAttempt,
    result: SendResult,
  ): Promise<{ readonly outcome: Outcome; readonly disabled: DisabledReason | null } | null> {
    const queries = webhookQueries(tx);
    const endpoint = await queries.lockEndpointForUpdate(id);
    const now = clock.now();
    const { status, durationMs, response } = result;
    const isDelivered = status !== null && status >= 200 && status < 300;
    const error = isDelivered ? null : (result.error ?? `the response has status ${status}`);
    const isGone = status === 410;
    const retryAfterMs = status === 429 || status === 503 ? result.retryAfterMs : 0;
    const random = (clock.random(1)[0] ?? 0) / 255;
    const waitMs = isDelivered || isGone ? null : nextAttemptMs(number, random, retryAfterMs);
    const isLatest =
      waitMs === null || endpoint === undefined
        ? await endLeasedJob(tx, deliveryKind, job)
        : await postponeLeasedJob(tx, deliveryKind, job, now + waitMs, error ?? '');
    if (!isLatest || endpoint === undefined) {
      return null;
    }
    const attempt = { delivery_id: delivery.id, number, duration_ms: durationMs, status, error, response };
    await queries.updateAttempt(attempt);
    if (error === null) {
      const { id: deliveryId, subject } = delivery;
      const ended = {
        status: 'delivered',
        last_status: status,
        last_error: null,
        ended_at: timestamp(now),
      } as const;
      await queries.updateDelivery({ id: deliveryId, ...ended });
      await addJobsOfLines(tx, id, [subject], now);
      if (endpoint.failures_in_row > 0) {
        await queries.updateHealth(afterSuccess(endpoint));
      }
      return { outcome: 'delivered', disabled: null };
    }
    const health = afterFailure(endpoint, timestamp(at), status, now);
    await queries.updateHealth(health);
    if (waitMs !== null) {
      const waiting = { status: 'waiting', last_status: status, last_error: error, ended_at: null } as const;
      await queries.updateDelivery({ id: delivery.id, ...waiting });
      return { outcome: 'retried', disabled: null };
    }
    await giveUp(tx, delivery, status, error, now);
    const first = await queries.findAttempt(delivery.id, 1);
    const isFailing = (health.failing_since ?? '') <= (first?.at ?? '');
    const reason = isGone ? 'gone' : isFailing ? 'failing' : null;
    const disabled = endpoint.status === 'enabled' ? reason : null;
    if (disabled !== null) {
      await disableEndpoint(tx, origin, id, disabled, now);
    }
    return { outcome: 'given_up', disabled };
  }

  function logDisabled(endpointId: number, reason: DisabledReason): void {
    log.warn({ endpointId, reason }, 'a webhook endpoint was disabled');
  }

  return { kind: deliveryKind, claim, run };
}

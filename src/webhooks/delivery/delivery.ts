/** The deliveries of webhooks, as the outbox sends them (jobs/outbox.ts). A lane is an endpoint, which all claims and results lock. */
import { type Clock, machineTime, timestamp } from '../../clock.ts';
import type { Origin } from '../../database/context.ts';
import type { Sql } from '../../database/database.ts';
import { readEvents, toEvent } from '../../event-log/reading/log-reader.ts';
import type { LeasedJob } from '../../jobs/leases.ts';
import {
  type AfterCommit,
  type Lease,
  type Loaded,
  nothingLoaded,
  type OutboxContent,
} from '../../jobs/outbox.ts';
import { nextAttemptMs, type RetrySchedule } from '../../jobs/retry-schedule.ts';
import type { Log } from '../../log.ts';
import { disableEndpoint } from '../disable.ts';
import type { DisabledReason } from '../event-types.ts';
import { chooseRunningMax, requestsMax } from '../health.ts';
import { type EndpointRow, webhookQueries } from '../queries.ts';
import type { SendResult, WebhookSender } from '../requests/sender.ts';
import { attemptError, toRequest } from '../requests/signed-request.ts';
import { type EndpointSecrets, parseSecrets } from '../secrets.ts';
import { deliveryKind } from './delivery-order.ts';
import { type DeliveryAttempt, endDelivery, giveUp, type Outcome, storeDeliveryResult } from './results.ts';

/** A request that moves the clock waits for the deliveries on the way. */
export const advancingTimeoutMs = 1000;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Ten attempts over three days, as Standard Webhooks recommends. */
export const deliveryRetries: RetrySchedule = {
  waitsMs: [
    5000,
    5 * minuteMs,
    30 * minuteMs,
    2 * hourMs,
    5 * hourMs,
    10 * hourMs,
    14 * hourMs,
    20 * hourMs,
    24 * hourMs,
  ],
  jitter: 0.1,
};
const stopped = 'the server stopped before the result was known';
const expired = 'the event has expired';

interface Dependencies {
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  readonly secrets: EndpointSecrets;
  readonly sender: WebhookSender;
  /** Origin of events that endpoints were disabled. */
  readonly origin: Origin;
  /** Version of Curd. */
  readonly version: string;
  readonly onOutcome: (outcome: Outcome) => void;
}

interface Claim {
  readonly endpoint: EndpointRow;
  readonly keys: readonly Uint8Array[];
  readonly jobs: readonly LeasedJob[];
  readonly now: number;
}

export function createDeliveryContent(
  dependencies: Dependencies,
): OutboxContent<DeliveryAttempt, SendResult, EndpointRow> {
  const { clock, log, secrets, sender, origin, version, onOutcome } = dependencies;

  async function lock(tx: Sql, lane: string): Promise<EndpointRow | null> {
    return (await webhookQueries(tx).lockEndpointForUpdate(Number(lane))) ?? null;
  }

  async function load(
    tx: Sql,
    lane: string,
    lease: Lease,
    afterCommit: AfterCommit,
  ): Promise<Loaded<DeliveryAttempt> | null> {
    const endpoint = await lock(tx, lane);
    if (endpoint === null) {
      return null;
    }
    const runningMax = chooseRunningMax(endpoint, clock.now());
    if (runningMax === 0) {
      return nothingLoaded;
    }
    const keys = secrets.signingKeys(endpoint.id, parseSecrets(endpoint.secrets), clock.now());
    if (keys === null) {
      await disableEndpoint(tx, origin, endpoint.id, 'secret_unreadable', clock.now());
      afterCommit(() => logDisabled(endpoint.id, 'secret_unreadable'));
      return nothingLoaded;
    }
    const { jobs, now } = await lease(runningMax);
    return jobs.length === 0 ? nothingLoaded : beginAttempts(tx, { endpoint, keys, jobs, now }, afterCommit);
  }

  async function beginAttempts(
    tx: Sql,
    { endpoint, keys, jobs, now }: Claim,
    afterCommit: AfterCommit,
  ): Promise<Loaded<DeliveryAttempt>> {
    const queries = webhookQueries(tx);
    const deliveries = await queries.listDeliveries(jobs.map(({ key }) => Number(key)));
    const events = await readEvents(
      tx,
      deliveries.map(({ sequence }) => sequence),
    );
    const attempts: DeliveryAttempt[] = [];
    const over: LeasedJob[] = [];
    let disabled: DisabledReason | null = null;
    for (const job of jobs) {
      const delivery = deliveries.find(({ id }) => String(id) === job.key);
      if (delivery === undefined || delivery.ended_at !== null) {
        over.push(job);
        continue;
      }
      if (delivery.status === 'sending') {
        await queries.updateAttempt({
          delivery_id: delivery.id,
          number: delivery.attempts,
          duration_ms: null,
          status: null,
          error: stopped,
          response: null,
        });
      }
      const event = events.get(delivery.sequence);
      if (event === undefined) {
        over.push(job);
        await endDelivery(tx, delivery, { status: 'failed', last_status: null, last_error: expired }, now);
      } else if (delivery.attempts - job.early_attempts > deliveryRetries.waitsMs.length) {
        over.push(job);
        const before: EndpointRow = disabled === null ? endpoint : { ...endpoint, status: 'disabled' };
        disabled =
          (await giveUp(tx, origin, before, delivery, { status: null, error: stopped }, now)) ?? disabled;
        afterCommit(() => onOutcome('given_up'));
      } else {
        attempts.push({ endpoint, delivery, job, event, keys, number: delivery.attempts + 1, at: now });
      }
    }
    if (disabled !== null) {
      const reason = disabled;
      afterCommit(() => logDisabled(endpoint.id, reason));
      // The other jobs wait until the endpoint is enabled.
      return { attempts: [], over };
    }
    if (attempts.length > 0) {
      const begun = attempts.map(({ delivery }) => delivery);
      await queries.insertAttempts(begun, timestamp(now));
      await queries.markSending(begun.map(({ id }) => id));
    }
    return { attempts, over };
  }

  function requestOf({ endpoint, delivery, event, keys }: DeliveryAttempt) {
    const { event_id: id, previous_id, kind } = delivery;
    const parentId = Buffer.from(clock.random(8)).toString('hex');
    return toRequest({
      url: endpoint.url,
      id,
      body: `${toEvent(event, id).slice(0, -1)},"previousId":${JSON.stringify(previous_id)}}`,
      // Receivers compare it with their own clock.
      at: machineTime(clock),
      keys,
      version,
      headers: {
        ...(event.trace_id === null ? {} : { traceparent: `00-${event.trace_id}-${parentId}-01` }),
        ...(kind === 'replay' ? { 'Curd-Replay': 'true' } : {}),
      },
    });
  }

  function logDisabled(endpointId: number, reason: DisabledReason): void {
    log.warn({ endpointId, reason }, 'a webhook endpoint was disabled');
  }

  return {
    kind: deliveryKind,
    laneMax: requestsMax,
    storesTogether: true,
    lock,
    load,
    send: (attempt) => sender.send(requestOf(attempt), clock.isAdvancing() ? advancingTimeoutMs : undefined),
    next({ number, job }, result) {
      const error = attemptError(result);
      const { status, retryAfterMs } = result;
      if (error === null || status === 410) {
        return { afterMs: null, error: error ?? '' };
      }
      const asked = status === 429 || status === 503 ? retryAfterMs : 0;
      const random = (clock.random(1)[0] ?? 0) / 255;
      return { afterMs: nextAttemptMs(deliveryRetries, number - job.early_attempts, random, asked), error };
    },
    async end(tx, endpoint, finished, afterCommit) {
      const { outcome, disabled, changed } = await storeDeliveryResult(tx, origin, endpoint, finished);
      afterCommit(() => {
        onOutcome(outcome);
        if (disabled !== null) {
          logDisabled(endpoint.id, disabled);
        }
      });
      return changed;
    },
  };
}

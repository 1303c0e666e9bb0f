/**
 * Sends deliveries, as background jobs under leases. A claim begins attempts in one transaction, the requests are sent
 * outside of any, and a second transaction stores each result. A server that dies in between has sent the request or
 * not; when its leases have ended, the deliveries are sent again with the same ids.
 */
import { type Clock, machineTime, timestamp } from '../../clock.ts';
import { batchCalls } from '../../database/batch-calls.ts';
import type { Origin } from '../../database/context.ts';
import type { Database, Sql } from '../../database/database.ts';
import { readEvents, toEvent } from '../../event-log/reading/log-reader.ts';
import type { LeaseHandler } from '../../jobs/lease-worker.ts';
import { type LeasedJob, leasedJobs } from '../../jobs/leases.ts';
import type { Log } from '../../log.ts';
import { disableEndpoint } from '../disable.ts';
import type { DisabledReason } from '../event-types.ts';
import { requestsMax, runningMaxOf } from '../health.ts';
import { type EndpointRow, webhookQueries } from '../queries.ts';
import type { SendResult, WebhookSender } from '../requests/sender.ts';
import { toRequest } from '../requests/signed-request.ts';
import { type EndpointSecrets, parseSecrets } from '../secrets.ts';
import { deliveryKind, laneOf } from './delivery-order.ts';
import {
  type DeliveryAttempt,
  endDelivery,
  type Finished,
  giveUp,
  type Outcome,
  type StoredResult,
  storeResults,
} from './results.ts';
import { attemptsMax } from './retry-schedule.ts';

/** A server that has not renewed its leases for so long is dead. */
const leaseMs = 10_000;
/** A request that moves the clock waits for the deliveries on the way. */
export const advancingTimeoutMs = 1000;
const orphansOfABlock = 500;
const stopped = 'the server stopped before the result was known';
const expired = 'the event has expired';

interface Dependencies {
  readonly database: Database;
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

/** What a claim has changed. */
interface Claimed {
  readonly attempts: readonly DeliveryAttempt[];
  /** Deliveries whose last attempt had no result. */
  readonly givenUp: number;
  /** Why the endpoint was disabled; null where it was not. */
  readonly disabled: DisabledReason | null;
}

const nothing: Claimed = { attempts: [], givenUp: 0, disabled: null };

export function createDeliveryHandler(dependencies: Dependencies): LeaseHandler<DeliveryAttempt, SendResult> {
  const { database, clock, log, secrets, sender, origin, version, onOutcome } = dependencies;

  const storers = new Map<number, (finished: Finished) => Promise<StoredResult | null>>();

  async function claim(
    lane: string,
    max: number,
    onLease: (now: number) => void,
  ): Promise<readonly DeliveryAttempt[]> {
    const id = Number(lane);
    const { attempts, givenUp, disabled } = await database.transaction(async (tx) => {
      const now = clock.now();
      const endpoint = await webhookQueries(tx).lockEndpointForUpdate(id);
      if (endpoint === undefined) {
        await leasedJobs(tx).deleteLane(laneOf(id), orphansOfABlock);
        return nothing;
      }
      const runningMax = runningMaxOf(endpoint, now);
      if (runningMax === 0) {
        return nothing;
      }
      const keys = secrets.signingKeys(id, parseSecrets(endpoint.secrets), now);
      if (keys === null) {
        await disableEndpoint(tx, origin, id, 'secret_unreadable', now);
        return { ...nothing, disabled: 'secret_unreadable' as const };
      }
      onLease(now);
      const jobs = await leasedJobs(tx).lease(laneOf(id), { max, runningMax }, now, leaseMs);
      return jobs.length === 0 ? nothing : beginAttempts(tx, { endpoint, keys, jobs, now });
    });
    for (let count = 0; count < givenUp; count += 1) {
      onOutcome('given_up');
    }
    if (disabled !== null) {
      logDisabled(id, disabled);
    }
    return attempts;
  }

  async function beginAttempts(
    tx: Sql,
    claim: {
      readonly endpoint: EndpointRow;
      readonly keys: readonly Uint8Array[];
      readonly jobs: readonly LeasedJob[];
      readonly now: number;
    },
  ): Promise<Claimed> {
    const { endpoint, keys, jobs, now } = claim;
    const deliveries = await webhookQueries(tx).listDeliveries(jobs.map(({ key }) => Number(key)));
    const events = await readEvents(
      tx,
      deliveries.map(({ sequence }) => sequence),
    );
    const attempts: DeliveryAttempt[] = [];
    let givenUp = 0;
    let disabled: DisabledReason | null = null;
    for (const job of jobs) {
      const delivery = deliveries.find(({ id }) => String(id) === job.key);
      if (delivery === undefined || delivery.ended_at !== null) {
        await leasedJobs(tx).end(deliveryKind, job);
        continue;
      }
      if (delivery.status === 'sending') {
        await webhookQueries(tx).updateAttempt({
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
        await leasedJobs(tx).end(deliveryKind, job);
        await endDelivery(tx, delivery, { status: 'failed', last_status: null, last_error: expired }, now);
      } else if (delivery.attempts - job.early_attempts >= attemptsMax) {
        await leasedJobs(tx).end(deliveryKind, job);
        givenUp += 1;
        const before: EndpointRow = disabled === null ? endpoint : { ...endpoint, status: 'disabled' };
        disabled =
          (await giveUp(tx, origin, before, delivery, { status: null, error: stopped }, now)) ?? disabled;
      } else {
        attempts.push({ endpoint, delivery, job, event, keys, number: delivery.attempts + 1, at: now });
      }
    }
    if (disabled !== null) {
      // The other jobs wait until the endpoint is enabled.
      return { attempts: [], givenUp, disabled };
    }
    if (attempts.length > 0) {
      const begun = attempts.map(({ delivery }) => delivery);
      await webhookQueries(tx).insertAttempts(begun, timestamp(now));
      await webhookQueries(tx).markSending(begun.map(({ id }) => id));
    }
    return { attempts, givenUp, disabled };
  }

  async function store(attempt: DeliveryAttempt, result: SendResult): Promise<void> {
    const stored = await storerOf(attempt.endpoint.id)({ attempt, result });
    if (stored !== null) {
      onOutcome(stored.outcome);
      if (stored.disabled !== null) {
        logDisabled(attempt.endpoint.id, stored.disabled);
      }
    }
  }

  /** Results of an endpoint that arrive while others are stored share a transaction, because each locks the endpoint. */
  function storerOf(endpointId: number) {
    let storer = storers.get(endpointId);
    if (storer === undefined) {
      storer = batchCalls((results) =>
        database.transaction((tx) => storeResults(tx, { clock, origin }, endpointId, results)),
      );
      storers.set(endpointId, storer);
    }
    return storer;
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
    leaseMs,
    claim,
    run: (attempt) => sender.send(requestOf(attempt), clock.isAdvancing() ? advancingTimeoutMs : undefined),
    store,
  };
}

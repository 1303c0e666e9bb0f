/** Why deliveries wait, as responses show it. */
import { timestamp } from '../../clock.ts';
import type { Sql } from '../../database/database.ts';
import { type JobTime, type LaneState, leasedJobs } from '../../jobs/leases.ts';
import { endpointQueries } from '../endpoint-queries.ts';
import { chooseRunningMax, isPaused } from '../health.ts';
import type { DeliveryRow, EndpointRow } from '../queries.ts';
import { deliveryKind, toLane } from './delivery-order.ts';

export const waitingForValues = ['lease', 'earlier_delivery', 'retry', 'pause', 'turn', 'enabling'] as const;

export interface Waiting {
  /** null if nothing waits. */
  readonly waitingFor: (typeof waitingForValues)[number] | null;
  /** When it is due; null if that depends on something else than time. */
  readonly dueAt: string | null;
}

export const notWaiting: Waiting = { waitingFor: null, dueAt: null };

/** What waits for an endpoint. */
export interface Backlog {
  /** Deliveries that wait or are being sent. */
  readonly open: number;
  /** The state of the delivery that is next. */
  readonly next: Waiting;
}

export const emptyBacklog: Backlog = { open: 0, next: notWaiting };

/** Reads the backlog of each of these endpoints. */
export async function readBacklogs(
  sql: Sql,
  endpoints: readonly EndpointRow[],
  now: number,
): Promise<ReadonlyMap<number, Backlog>> {
  const ids = endpoints.map(({ id }) => id);
  const counts = await endpointQueries(sql).countOpen(ids);
  const lanes = counts.map(({ endpoint_id }) => toLane(endpoint_id).lane);
  const states = lanes.length === 0 ? [] : await leasedJobs(sql).listLaneStates(deliveryKind, lanes);
  const byLane = new Map(states.map((state) => [state.lane, state]));
  const open = new Map(counts.map((count) => [count.endpoint_id, count.open]));
  return new Map(
    endpoints.map((endpoint) => {
      const state = byLane.get(toLane(endpoint.id).lane);
      const next = state === undefined ? notWaiting : nextOf(endpoint, state, now);
      return [endpoint.id, { open: open.get(endpoint.id) ?? 0, next }];
    }),
  );
}

/** The state of the first delivery that can be sent next. */
function nextOf(endpoint: EndpointRow, { due_at, leased_until, leased }: LaneState, now: number): Waiting {
  const isDue = due_at !== null && due_at <= timestamp(now);
  const isFull = leased >= chooseRunningMax(endpoint, now) && !isPaused(endpoint, now);
  return endpoint.status === 'enabled' && leased > 0 && (isFull || !isDue)
    ? { waitingFor: 'lease', dueAt: leased_until }
    : waitingWith(endpoint, due_at, now);
}

/** Reads the state of each of these deliveries of an endpoint, by its id. */
export async function readWaiting(
  sql: Sql,
  endpoint: EndpointRow,
  deliveries: readonly DeliveryRow[],
  now: number,
): Promise<ReadonlyMap<number, Waiting>> {
  const open = deliveries.filter(({ ended_at }) => ended_at === null);
  const keys = open.map(({ id }) => String(id));
  const jobs = keys.length === 0 ? [] : await leasedJobs(sql).listTimes(deliveryKind, keys);
  const byKey = new Map(jobs.map((job) => [job.key, job]));
  return new Map(open.map(({ id }) => [id, waitingOf(endpoint, byKey.get(String(id)), now)]));
}

/** @param job undefined if another delivery of the line has it */
function waitingOf(endpoint: EndpointRow, job: JobTime | undefined, now: number): Waiting {
  if (job !== undefined && job.leased_until !== null) {
    return { waitingFor: 'lease', dueAt: job.leased_until };
  }
  return job === undefined && endpoint.status === 'enabled'
    ? { waitingFor: 'earlier_delivery', dueAt: null }
    : waitingWith(endpoint, job?.due_at ?? null, now);
}

function waitingWith(endpoint: EndpointRow, dueAt: string | null, now: number): Waiting {
  if (endpoint.status === 'disabled') {
    return { waitingFor: 'enabling', dueAt: null };
  }
  // The time of a job may have more digits than others.
  const due = timestamp(dueAt === null ? now : Date.parse(dueAt));
  const { paused_until: pausedUntil } = endpoint;
  if (pausedUntil !== null && isPaused(endpoint, now) && pausedUntil > due) {
    return { waitingFor: 'pause', dueAt: pausedUntil };
  }
  return { waitingFor: due > timestamp(now) ? 'retry' : 'turn', dueAt: due };
}

/**
 * Lines: the open deliveries of one subject for one endpoint, in the order of their ids. Only the first one of a line has
 * a job, so two deliveries of one subject are never sent at the same time. All callers have locked the endpoint.
 */
import { forEachBlock, readBlocks } from '../../blocks.ts';
import { timestamp } from '../../clock.ts';
import type { Sql } from '../../database/database.ts';
import { type Lane, leasedJobs } from '../../jobs/leases.ts';
import { jobQueue } from '../../jobs/queue.ts';
import { endpointQueries } from '../endpoint-queries.ts';
import { type NewDelivery, webhookQueries } from '../queries.ts';

export const deliveryKind = 'webhook.delivery';
/** Open deliveries of an endpoint. Beyond, its position waits: the log is the queue. */
export const openMax = 10_000;
/** A block's statements take a few milliseconds on SQLite. */
const blockSize = 500;
/** Early attempts of a delivery by successes of others, because a receiver may accept some events and never others. */
const afterSuccess = { earlyMax: 10, isForced: false };
/** Each attempt leaves a row, so attempts that an operator requests beyond this limit count as regular attempts. */
const onRequest = { earlyMax: 50, isForced: true };

/** Each endpoint has its own lane of jobs. */
export function toLane(endpointId: number): Lane {
  return { kind: deliveryKind, lane: String(endpointId) };
}

/** Adds deliveries in the order of the list to the ends of their lines. */
export async function queueDeliveries(
  tx: Sql,
  endpointId: number,
  deliveries: readonly Omit<NewDelivery, 'endpoint_id' | 'created_at'>[],
  now: number,
): Promise<void> {
  await forEachBlock(deliveries, blockSize, async (block) => {
    await webhookQueries(tx).insertDeliveries(
      block.map((delivery) => ({ ...delivery, endpoint_id: endpointId, created_at: timestamp(now) })),
    );
    await addJobsOfLines(tx, endpointId, [...new Set(block.map(({ subject }) => subject))], now);
  });
}

/** Adds the job of the first delivery of these lines if it is missing. */
export async function addJobsOfLines(
  tx: Sql,
  endpointId: number,
  subjects: readonly string[],
  now: number,
): Promise<void> {
  const firsts = await webhookQueries(tx).listFirstOf(endpointId, subjects);
  await leasedJobs(tx).addMissing(
    toLane(endpointId),
    firsts.map(({ id }) => String(id)),
    now,
  );
}

/**
 * Works like `addJobsOfLines`, for a block of lines, those of the first subjects after one: for maintenance.
 * @returns the last subject of the block; null after the last line
 */
export async function addMissingJobsAfter(
  tx: Sql,
  endpointId: number,
  after: string,
  now: number,
): Promise<string | null> {
  const firsts = await webhookQueries(tx).listFirsts(endpointId, after, blockSize);
  await leasedJobs(tx).addMissing(
    toLane(endpointId),
    firsts.map(({ id }) => String(id)),
    now,
  );
  return firsts.length < blockSize ? null : (firsts.at(-1)?.subject ?? null);
}

/** Gives up all deliveries that wait. One that is being sent ends with its result. */
export async function skipWaiting(tx: Sql, endpointId: number, now: number): Promise<void> {
  for await (const block of readBlocks((after) =>
    endpointQueries(tx).listWaiting(endpointId, after, blockSize),
  )) {
    const ids = block.map(({ id }) => id);
    await endpointQueries(tx).updateSkipped(ids, 'skipped when the endpoint was enabled', timestamp(now));
    await jobQueue(tx).deleteAll(deliveryKind, ids.map(String));
  }
}

/** Lets the deliveries that wait for their next attempt be sent at once, in the order of their ids. */
export async function wakeWaiting(tx: Sql, endpointId: number, now: number): Promise<void> {
  await leasedJobs(tx).makeLaneDue(toLane(endpointId), now, onRequest);
}

/** Works like `wakeWaiting`, after another delivery was accepted. */
export async function wakeAfterSuccess(tx: Sql, endpointId: number, now: number): Promise<void> {
  await leasedJobs(tx).makeLaneDue(toLane(endpointId), now, afterSuccess);
}

/** Works like `wakeWaiting`, for the line of a subject. */
export async function wakeLine(tx: Sql, endpointId: number, subject: string, now: number): Promise<void> {
  for (const { id } of await webhookQueries(tx).listFirstOf(endpointId, [subject])) {
    await leasedJobs(tx).makeDue(deliveryKind, String(id), now, onRequest.earlyMax);
  }
}

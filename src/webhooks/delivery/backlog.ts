/** What waits for an endpoint, in a transaction that has locked it. */
import { readBlocks } from '../../blocks.ts';
import { timestamp } from '../../clock.ts';
import type { Sql } from '../../database/database.ts';
import { makeJobDue, makeJobsDue } from '../../jobs/leases.ts';
import { deleteJobs } from '../../jobs/queue.ts';
import { endpointQueries } from '../endpoint-queries.ts';
import { webhookQueries } from '../queries.ts';
import { deliveryKind, laneOf } from './delivery-order.ts';

/** A block's statements take a few milliseconds on SQLite. */
const blockSize = 500;
/** Early attempts of a delivery by successes of others, because a receiver may accept some events and never others. */
const afterSuccess = { earlyMax: 10, isForced: false };
/** Each attempt leaves a row: where an operator asks for more, they are of the ten. */
const onRequest = { earlyMax: 50, isForced: true };

/** Gives up all deliveries that wait. One that is being sent ends with its result. */
export async function skipWaiting(tx: Sql, endpointId: number, now: number): Promise<void> {
  for await (const block of readBlocks((after) =>
    endpointQueries(tx).listWaiting(endpointId, after, blockSize),
  )) {
    const ids = block.map(({ id }) => id);
    await endpointQueries(tx).updateSkipped(ids, 'skipped when the endpoint was enabled', timestamp(now));
    await deleteJobs(tx, deliveryKind, ids.map(String));
  }
}

/** Lets the deliveries that wait for their next attempt be sent at once, in the order of their ids. */
export async function wakeWaiting(tx: Sql, endpointId: number, now: number): Promise<void> {
  await makeJobsDue(tx, laneOf(endpointId), now, onRequest);
}

/** Works like `wakeWaiting`, where another delivery was accepted. */
export async function wakeAfterSuccess(tx: Sql, endpointId: number, now: number): Promise<void> {
  await makeJobsDue(tx, laneOf(endpointId), now, afterSuccess);
}

/** Works like `wakeWaiting`, for the line of a subject. */
export async function wakeLine(tx: Sql, endpointId: number, subject: string, now: number): Promise<void> {
  for (const { id } of await webhookQueries(tx).listFirstOf(endpointId, [subject])) {
    await makeJobDue(tx, deliveryKind, String(id), now, onRequest.earlyMax);
  }
}

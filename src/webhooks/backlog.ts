/** What waits for an endpoint, in the transaction that enables it. The endpoint is locked. */
import { readBlocks } from '../blocks.ts';
import { timestamp } from '../clock.ts';
import type { Sql } from '../database/database.ts';
import { makeJobsDue } from '../jobs/leases.ts';
import { deleteJobs } from '../jobs/queue.ts';
import { endpointQueries } from './endpoint-queries.ts';
import { deliveryKind, laneOf } from './lines.ts';

/** On SQLite, the statements of a block take a few milliseconds. */
const blockSize = 500;

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

/** Lets the deliveries that wait for their next attempt be sent at once. */
export function wakeWaiting(tx: Sql, endpointId: number, now: number): Promise<void> {
  return makeJobsDue(tx, laneOf(endpointId), now);
}

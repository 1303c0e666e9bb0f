/** The right to move the clock, which one process has at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { machineTime } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import { unavailable } from '../../errors.ts';
import { testStateQueries } from '../queries.ts';
import type { MovableClock } from './movable-clock.ts';

/** A process that was killed lets others wait for so long. */
const leaseMs = 5000;
const renewalMs = 1000;
const retryMs = 50;
/** An advance ends after 30 seconds. */
const waitMs = 40_000;

export interface AdvanceLease {
  /**
   * Moves the clock forward, until it is so far ahead of the machine.
   * @throws AppError unavailable if the lease was lost
   */
  moveTo(advancedMs: number): Promise<void>;
}

/**
 * Runs `work` while this process alone moves the clock, after those that move it now.
 * @throws AppError unavailable after waiting too long for the others
 */
export async function withAdvanceLease<T>(
  database: Database,
  clock: MovableClock,
  isStopped: () => boolean,
  work: (lease: AdvanceLease) => Promise<T>,
): Promise<T> {
  const queries = testStateQueries(database);
  const owner = clock.uuid();
  const lease = () => ({ owner, until: machineTime(clock) + leaseMs });
  const deadline = performance.now() + waitMs;
  while ((await queries.lease(lease(), machineTime(clock))) === 0) {
    if (isStopped() || performance.now() > deadline) {
      throw unavailable('Another request moves the clock. Try again when it has ended.', 5);
    }
    await sleep(retryMs);
  }

  async function moveTo(advancedMs: number): Promise<void> {
    const row = await database.transaction((tx) => testStateQueries(tx).advance(lease(), advancedMs));
    if (row === undefined) {
      throw unavailable(
        'This request did not move the clock for seconds, and another one or a reset took its place. The clock keeps the time that it reached.',
        1,
      );
    }
    clock.note(row);
  }

  const renewal = setInterval(() => {
    // If that fails, the next step finds that the lease is lost.
    moveTo(0).catch(() => {});
  }, renewalMs).unref();
  try {
    // Learns how far others have moved it.
    await moveTo(0);
    return await work({ moveTo });
  } finally {
    clearInterval(renewal);
    await queries.release(owner);
    await clock.refresh();
  }
}

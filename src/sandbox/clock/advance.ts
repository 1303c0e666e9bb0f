/**
 * Moves the clock forward in order: it stops at the time of each job on the way, and runs the job there, so that a job
 * sees the time at which it would have run. The clock is moved before the jobs of a stop run. So what was done is never
 * ahead of the clock, even if the process is killed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { machineTime } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import type { Numbering } from '../../event-log/numbering.ts';
import { countEventsByActor, countUnnumbered, findLastEventId } from '../../event-log/reading/log-reader.ts';
import type { JobWorker } from '../../jobs/worker.ts';
import type { WebhookWorker } from '../../webhooks/delivery/worker.ts';
import type { AdvanceLease } from './advance-lease.ts';
import type { MovableClock } from './movable-clock.ts';
import { type Target, toTargetDistance, toTargetTime } from './target.ts';

const jobsMax = 10_000;
/** Jobs that can be running when the limit is reached. */
const jobsAtOnce = 128;
const durationMsMax = 30_000;
/** How long a stop waits for the numbers of its events, which webhooks need. */
const numberingMs = 1000;
const numberingRetryMs = 5;

const transitions = {
  approved: 'order.approved',
  cancelled: 'order.cancelled',
  shipped: 'order.shipped',
  delivered: 'order.delivered',
} as const;

export interface Advanced {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly did: Readonly<Record<keyof typeof transitions | 'deliveries', number>>;
  /** Whether it stopped before the target. */
  readonly more: boolean;
}

export interface AdvanceDependencies {
  readonly database: Database;
  readonly clock: MovableClock;
  readonly jobs: Pick<JobWorker, 'run' | 'nextDueAt' | 'done'>;
  readonly webhooks: Pick<WebhookWorker, 'run' | 'nextDueAt' | 'hasEndpoints' | 'stats'>;
  readonly numbering: Pick<Numbering, 'run'>;
  readonly isStopped: () => boolean;
}

/** Moves the clock to a target in the future. */
export async function advanceTo(
  { database, clock, jobs, webhooks, numbering, isStopped }: AdvanceDependencies,
  lease: AdvanceLease,
  target: Target,
): Promise<Advanced> {
  const startedAt = performance.now();
  const firstEvent = await findLastEventId(database);
  const attempts = () => Object.values(webhooks.stats.attempts).reduce((sum, count) => sum + count, 0);
  const [jobsBefore, attemptsBefore] = [jobs.done(), attempts()];
  const mayContinue = () =>
    !isStopped() &&
    performance.now() - startedAt < durationMsMax &&
    jobs.done() - jobsBefore + attempts() - attemptsBefore + jobsAtOnce <= jobsMax;

  /** Runs what is due now, with the webhooks of its events. */
  async function runDue(): Promise<void> {
    await jobs.run(mayContinue);
    if (await webhooks.hasEndpoints()) {
      await numberEvents();
      await webhooks.run(mayContinue);
    }
  }

  async function numberEvents(): Promise<void> {
    const deadline = performance.now() + numberingMs;
    do {
      await numbering.run();
      if (database.numbersEventsAtWrite || (await countUnnumbered(database)) === 0) {
        return;
      }
      await sleep(numberingRetryMs);
    } while (performance.now() < deadline);
  }

  /** The time of the first job after a time. */
  async function nextDue(after: number): Promise<number> {
    const times = [await jobs.nextDueAt(after), await webhooks.nextDueAt(after)];
    return Math.min(...times.filter((time) => time !== null));
  }

  let isReached = false;
  let ranUntil = clock.now();
  await runDue();
  while (!isReached && mayContinue()) {
    const next = await nextDue(ranUntil);
    isReached = next >= toTargetTime(target, clock);
    await lease.moveTo(isReached ? toTargetDistance(target, clock) : next - machineTime(clock));
    ranUntil = clock.now();
    await runDue();
  }
  const events = await countEventsByActor(database, firstEvent, 'system', Object.values(transitions));
  const count = (status: keyof typeof transitions) => events.get(transitions[status]) ?? 0;
  return {
    now: clock.now(),
    did: {
      approved: count('approved'),
      cancelled: count('cancelled'),
      shipped: count('shipped'),
      delivered: count('delivered'),
      deliveries: attempts() - attemptsBefore,
    },
    more: !isReached || (!mayContinue() && (await nextDue(0)) <= ranUntil),
  };
}

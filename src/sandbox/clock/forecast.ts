/** What an advance would do to orders: their jobs run in the transaction of a dry run, each at its own time. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, timestamp } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import type { Sql } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { firstDue, jobQueue } from '../../jobs/queue.ts';
import type { JobHandler } from '../../jobs/worker.ts';

/** The number of effects that a dry run lists. */
const jobsMax = 1000;
/** Jobs take some tenths of a millisecond each on SQLite, where a transaction gives no turn to others. */
const jobsOfATurn = 20;

export type JobsBy = (clock: Clock, context: Context) => readonly JobHandler[];

/** Runs the jobs that are due until `target` in a transaction that is rolled back. */
export async function forecast(
  tx: Sql,
  context: Context,
  clock: Clock,
  jobsBy: JobsBy,
  target: number,
): Promise<void> {
  let now = clock.now();
  const handlers = jobsBy({ ...clock, now: () => now }, context);
  for (let count = 0; count < jobsMax; count += 1) {
    const due = await Promise.all(
      handlers.map(async (handler) => ({
        handler,
        job: (await jobQueue(tx).listDue(handler.kind, timestamp(target), firstDue, 1))[0],
      })),
    );
    const [first] = due
      .filter(({ job }) => job !== undefined)
      .toSorted((a, b) => ((a.job?.due_at ?? '') < (b.job?.due_at ?? '') ? -1 : 1));
    if (first?.job === undefined) {
      return;
    }
    now = Math.max(now, Date.parse(first.job.due_at));
    await runOne(tx, first.handler, first.job);
    if (count % jobsOfATurn === 0) {
      await nextTurn();
    }
  }
}

/** A job that would fail now, for example because the stock is short, has no effect. */
async function runOne(
  tx: Sql,
  handler: JobHandler,
  job: { readonly key: string; readonly attempts: number },
): Promise<void> {
  try {
    await handler.run(tx, job);
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'rateLimited' || error.code === 'unavailable') {
      throw error;
    }
  }
  await jobQueue(tx).delete(handler.kind, job.key);
}

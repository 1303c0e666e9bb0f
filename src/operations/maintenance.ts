/** Periodic cleanup: stores what is buffered, and deletes what has expired. */
import type { Loops } from '../jobs/loops.ts';
import { RepeatedWork } from '../jobs/repeated-work.ts';
import type { Log } from '../log.ts';

const intervalMs = 60_000;
/** No task runs again later than this, so that the next run of all tasks is not delayed. */
const repeatsMs = 50_000;

/** Returns true if work is left: then it runs again after the others. */
export type Task = () => Promise<unknown>;

export type Maintenance = ReturnType<typeof startMaintenance>;

/** Runs the tasks every minute; a run that takes longer delays the next. @param report is called every minute */
export function startMaintenance(log: Log, loops: Loops, tasks: readonly Task[], report: () => void) {
  const work = new RepeatedWork({
    loops,
    name: 'maintenance',
    everyMs: intervalMs,
    run: runTasks,
    onError: (error) => log.error({ err: error }, 'maintenance failed; it is tried again in a minute'),
  });
  const reports = setInterval(report, intervalMs).unref();

  async function runTasks(isStopped: () => boolean): Promise<void> {
    const until = performance.now() + repeatsMs;
    // A purge may take seconds, and a server that stops waits for one task only.
    let due: readonly Task[] = tasks.map((task) => async () => !isStopped() && task());
    while (due.length > 0 && performance.now() < until) {
      due = await runAll(log, 'maintenance failed; it is tried again in a minute', due);
    }
  }

  work.start();
  return {
    /** Runs all tasks now. Tests do not wait for the next minute. */
    run: () => work.run(),
    /** Starts no further run. Resolves when the current one has ended. */
    async stop() {
      clearInterval(reports);
      await work.stop();
    },
  };
}

/**
 * Runs the tasks one after the other. A task that fails is logged and does not keep the others from running. Returns
 * those that have work left.
 */
export async function runAll(log: Log, failure: string, tasks: readonly Task[]): Promise<Task[]> {
  const unfinished: Task[] = [];
  for (const task of tasks) {
    const isUnfinished = await task().catch((error) => log.error({ err: error }, failure));
    if (isUnfinished === true) {
      unfinished.push(task);
    }
  }
  return unfinished;
}

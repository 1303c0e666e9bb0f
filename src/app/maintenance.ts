/** Periodic cleanup: stores what is buffered, and deletes what has expired. */
import type { Log } from '../log.ts';

const intervalMs = 60_000;

export type Task = () => Promise<unknown>;

export interface Maintenance {
  /** Runs all tasks now. Tests do not wait for the next minute. */
  run(): Promise<void>;
  /** Starts no further run. Resolves when the current one has ended. */
  stop(): Promise<void>;
}

/** Runs the tasks every minute; a run that takes longer delays the next. @param report is called every minute */
export function startMaintenance(log: Log, tasks: readonly Task[], report: () => void): Maintenance {
  let current: Promise<void> | null = null;
  let isStopped = false;
  // A purge may take seconds, and a server that stops waits for one task only.
  const unlessStopped = tasks.map((task) => async () => isStopped || task());

  function run(): Promise<void> {
    current ??= runAll(log, 'maintenance failed; it is tried again in a minute', unlessStopped).finally(
      () => {
        current = null;
      },
    );
    return current;
  }

  const timer = setInterval(() => {
    report();
    void run();
  }, intervalMs).unref();

  return {
    run,
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await current;
    },
  };
}

/** Runs the tasks one after the other. A task that fails is logged and does not keep the others from running. */
export async function runAll(log: Log, failure: string, tasks: readonly Task[]): Promise<void> {
  for (const task of tasks) {
    await task().catch((error) => log.error({ err: error }, failure));
  }
}

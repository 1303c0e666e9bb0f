/** Work that a server repeats from its start on. Two runs never overlap. */

export interface RepeatedWork {
  /** Repeats the work from now on. */
  start(): void;
  /** Does the work now, or waits for the run that is under way: for tests. */
  run(): Promise<void>;
  /** Ends after the step that is under way. */
  stop(): Promise<void>;
}

/** @param work ends soon after `isStopped` returns true */
export function repeatWork(
  intervalMs: number,
  work: (isStopped: () => boolean) => Promise<void>,
  onError: (error: unknown) => void,
): RepeatedWork {
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  function run(): Promise<void> {
    running ??= work(() => isStopped)
      .catch(onError)
      .finally(() => {
        running = null;
      });
    return running;
  }

  return {
    start() {
      timer ??= setInterval(() => void run(), intervalMs).unref();
    },
    run,
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await running;
    },
  };
}

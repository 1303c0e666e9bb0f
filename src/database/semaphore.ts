/** A semaphore: limits how many tasks run at once. */
import { unavailable } from '../errors.ts';

export interface Semaphore {
  /** Runs `work` as soon as a permit is free. @throws AppError unavailable after waiting too long */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** How many tasks wait for a permit. */
  waiting(): number;
  /** Resolves when the tasks of before have ended, or one of them did not while another task would wait. */
  ended(): Promise<void>;
}

/**
 * @param waitMs how long a task waits for a permit, in the order of arrival
 * @param tasks what they are, for the message of a refusal
 */
export function createSemaphore(permits: number, waitMs: number, tasks = 'changes'): Semaphore {
  /** Waiters in the order of arrival. */
  const queue = new Set<() => void>();
  let free = permits;

  function acquire(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        queue.delete(start);
        reject(unavailable(`Too many ${tasks} are waiting for the database. Try again shortly.`, 2));
      }, waitMs);
      function start(): void {
        clearTimeout(timer);
        resolve();
      }
      queue.add(start);
    });
  }

  /** Passes the permit to the first waiting task. */
  function release(): void {
    const [next] = queue;
    if (next === undefined) {
      free += 1;
    } else {
      queue.delete(next);
      next();
    }
  }

  async function during<T>(work: () => Promise<T>): Promise<T> {
    if (free > 0) {
      free -= 1;
    } else {
      await acquire();
    }
    try {
      return await work();
    } finally {
      release();
    }
  }

  return {
    during,
    waiting: () => queue.size,
    async ended() {
      const { promise: all, resolve } = Promise.withResolvers<void>();
      let held = 0;
      const hold = () => {
        held += 1;
        if (held === permits) {
          resolve();
        }
        return all;
      };
      await Promise.all(Array.from({ length: permits }, () => during(hold).catch(resolve)));
    },
  };
}

/** Limits how many tasks run at once. */
import { unavailable } from '../errors.ts';

export interface Slots {
  /** Runs `work` as soon as there is a slot. @throws AppError unavailable after waiting too long for one */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** How many tasks wait for a slot. */
  waiting(): number;
}

/**
 * @param waitMs how long a task waits for a slot, in the order of arrival
 * @param tasks what they are, for the message of a refusal
 */
export function createSlots(count: number, waitMs: number, tasks = 'changes'): Slots {
  /** Waiters in the order of arrival. */
  const line = new Set<() => void>();
  let free = count;

  function enter(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        line.delete(start);
        reject(unavailable(`Too many ${tasks} are waiting for the database. Try again shortly.`, 2));
      }, waitMs);
      function start(): void {
        clearTimeout(timer);
        resolve();
      }
      line.add(start);
    });
  }

  /** Passes the slot to the first waiting task. */
  function leave(): void {
    const [next] = line;
    if (next === undefined) {
      free += 1;
    } else {
      line.delete(next);
      next();
    }
  }

  return {
    async during(work) {
      if (free > 0) {
        free -= 1;
      } else {
        await enter();
      }
      try {
        return await work();
      } finally {
        leave();
      }
    },
    waiting: () => line.size,
  };
}

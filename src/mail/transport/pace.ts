/** Limits how many mails begin within a second. */
import { setTimeout as sleep } from 'node:timers/promises';

const secondMs = 1000;

/** Returns a function that waits until one more may begin. Callers wait one after the other. */
export function createPace(perSecond: number): () => Promise<void> {
  /** When the last ones began, the oldest first. */
  const begun: number[] = [];
  let turn: Promise<void> = Promise.resolve();

  async function wait(): Promise<void> {
    const oldest = begun.length < perSecond ? undefined : begun.shift();
    const waitMs = oldest === undefined ? 0 : oldest + secondMs - performance.now();
    if (waitMs > 0) {
      await sleep(waitMs);
    }
    begun.push(performance.now());
  }

  return () => {
    turn = turn.then(wait);
    return turn;
  };
}

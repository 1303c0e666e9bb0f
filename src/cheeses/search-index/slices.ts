/** Runs long work in slices of a few milliseconds, with other requests in between. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MaybePromise } from '../../maybe-promise.ts';

/** A step between two pauses takes less than a millisecond. */
const sliceMs = 3;

/** One slice of all work runs in a turn of the event loop: with several, other requests would wait for each of them. */
let turns: Promise<unknown> = Promise.resolve();

/** Resolves in a later turn of the event loop. */
export function pause(): Promise<unknown> {
  turns = turns.then(() => nextTurn());
  return turns;
}

/** The result of steps. Steps that end in the first slice run without a promise. */
export function inSlices<T>(steps: Generator<void, T>): MaybePromise<T> {
  const until = performance.now() + sliceMs;
  do {
    const { done, value } = steps.next();
    if (done) {
      return value as T;
    }
  } while (performance.now() < until);
  return pause().then(() => inSlices(steps));
}

/** The result of steps, without pauses. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) {
      return value as T;
    }
  }
}

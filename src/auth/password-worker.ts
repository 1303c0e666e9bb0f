/**
 * Works passwords out in a thread of its own, which gives way to whatever else there is to do. On Linux a thread's own
 * priority can be set; elsewhere it would be that of the whole process, and stays.
 */
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { hashSync, type Options, verifySync } from '@node-rs/argon2';

/** To be hashed, or held against a PHC string. */
export interface Task {
  readonly password: string;
  readonly stored: string | null;
  readonly cost: Options;
}

export type Outcome = { readonly value: string | boolean } | { readonly fault: string };

if (process.platform === 'linux') {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
}

parentPort?.on('message', ({ password, stored, cost }: Task) => {
  parentPort?.postMessage(outcomeOf(password, stored, cost));
});

function outcomeOf(password: string, stored: string | null, cost: Options): Outcome {
  try {
    return { value: stored === null ? hashSync(password, cost) : verifySync(stored, password) };
  } catch (error) {
    return { fault: String(error) };
  }
}

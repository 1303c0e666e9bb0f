/** Works passwords out in a process of its own, which gives way to whatever else there is to do. */
import { constants, setPriority } from 'node:os';
import { hashSync, type Options, verifySync } from '@node-rs/argon2';

/** To be hashed, or held against a PHC string. */
export interface Task {
  readonly password: string;
  readonly stored: string | null;
  readonly cost: Options;
}

export type Outcome = { readonly value: string | boolean } | { readonly fault: string };

setPriority(constants.priority.PRIORITY_LOW);

// A terminal and a supervisor tell the whole group to stop. The server still finishes what runs; when it is gone, the
// channel closes and so do we.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {});
}

process.on('message', ({ password, stored, cost }: Task) => {
  // Nobody is there to be told of a server that is gone.
  process.send?.(outcomeOf(password, stored, cost), undefined, undefined, () => {});
});

function outcomeOf(password: string, stored: string | null, cost: Options): Outcome {
  try {
    return { value: stored === null ? hashSync(password, cost) : verifySync(stored, password) };
  } catch (error) {
    return { fault: String(error) };
  }
}

/**
 * Passwords as argon2id (RFC 9106) with the parameters that OWASP recommends: 19 MiB, two passes, one lane. A hash takes
 * about 15 ms of one core.
 *
 * Worker processes of low priority compute the hashes. In the thread pool, and in threads of low priority, logins made
 * other requests wait six to fifteen times as long. New passwords have their own lane, which takes turns with that of
 * logins after each hash, so that thousands of registrations do not block logins.
 */
import { availableParallelism } from 'node:os';
import type { Clock } from '../clock.ts';
import { unavailable } from '../errors.ts';
import type { PasswordTask } from '../workers/password-worker.ts';
import { createWorkerPool, QueueFull, type WorkerSlot } from '../workers/pool.ts';
import { WorkerExited } from '../workers/process.ts';

const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const costText = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`;
/** A core is left to the server. On two cores, a second process gave no more logins, and other requests waited longer. */
export const passwordProcessesMax = Math.max(1, Math.min(2, availableParallelism() - 1));

type Slot = WorkerSlot<PasswordTask, string | boolean>;
type Lane = 'verify' | 'hash';

/** Hashes and verifies passwords. */
export interface Passwords {
  /** A PHC string to store. @throws AppError unavailable when too many passwords wait */
  hash(password: string): Promise<string>;
  /** Hashes several passwords. They are refused together. @throws AppError unavailable */
  hashAll(passwords: readonly string[]): Promise<string[]>;
  /**
   * Pass null for an unknown customer: it is false, and takes as long as for a wrong password.
   * @throws AppError unavailable
   */
  verify(stored: string | null, password: string): Promise<boolean>;
  /** Whether it was hashed with other parameters than today's. Then hash it again at the next login. */
  isOutdated(stored: string): boolean;
  /** Slots in use, and passwords that wait. */
  stats(): { readonly running: number; readonly waiting: number };
  /** Ends the worker processes that have nothing to do. */
  close(): void;
}

/** Creates the password pool. Its processes start with the first password. */
export function createPasswords(clock: Clock, processesMax = passwordProcessesMax): Passwords {
  const pool = createWorkerPool<PasswordTask, string | boolean, Lane>({
    file: new URL('../workers/password-worker.ts', import.meta.url),
    processesMax,
    slotsPerProcess: 1,
    lanes: {
      verify: { concurrency: processesMax, queueMax: 64 },
      // A batch of registrations has at most 100 passwords.
      hash: { concurrency: 1, queueMax: 128 },
    },
  });
  let dummyHash: string | undefined;

  function acquireAll(lane: Lane, passwords: number): Promise<Slot>[] {
    try {
      return pool.acquireAll(lane, passwords);
    } catch (error) {
      throw error instanceof QueueFull
        ? unavailable('Too many passwords wait to be checked. Try again in a moment.', 1)
        : error;
    }
  }

  const hashAll = async (passwords: readonly string[]) => {
    const slots = acquireAll('hash', passwords.length);
    return Promise.all(
      slots.map(async (waiting, index) => {
        using slot = await waiting;
        return await hashIn(slot, passwords[index] as string);
      }),
    );
  };

  return {
    hash: async (password) => (await hashAll([password]))[0] as string,
    hashAll,
    async verify(stored, password) {
      const [waiting] = acquireAll('verify', 1);
      using slot = await (waiting as Promise<Slot>);
      // Computed for the first password of any customer, so that its time does not show whether the customer exists.
      dummyHash ??= await hashIn(slot, clock.uuid());
      const isRight = (await run(slot, password, stored ?? dummyHash)) === true;
      return isRight && stored !== null;
    },
    isOutdated: (stored) => !stored.startsWith(costText),
    stats: pool.stats,
    close: pool.close,
  };
}

async function hashIn(slot: Slot, password: string): Promise<string> {
  return String(await run(slot, password, null));
}

async function run(slot: Slot, password: string, stored: string | null): Promise<string | boolean> {
  try {
    return await slot.run({ password: password.normalize('NFC'), stored, cost });
  } catch (error) {
    throw error instanceof WorkerExited
      ? unavailable('The password could not be checked. Try again in a moment.', 1)
      : error;
  }
}

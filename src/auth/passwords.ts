/**
 * Passwords as argon2id (RFC 9106) with the parameters that OWASP recommends: 19 MiB, two passes, one lane. A hash takes
 * about 15 ms of one core.
 *
 * Child processes of low priority compute the hashes. In the thread pool, and in threads of low priority, logins made
 * other requests wait six to fifteen times as long. New passwords have their own queue, which takes turns with that of
 * logins after each hash, so that thousands of registrations do not block logins.
 */
import { availableParallelism } from 'node:os';
import { ChildExited } from '../children/child.ts';
import type { PasswordTask } from '../children/password-child.ts';
import { type ChildSlot, createChildPool, QueueFull } from '../children/pool.ts';
import type { Clock } from '../clock.ts';
import { unavailable } from '../errors.ts';

/** Parameters of argon2id. */
export interface PasswordCost {
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly parallelism: number;
}

const recommendedCost: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** A core is left to the server. On two cores, a second process gave no more logins, and other requests waited longer. */
export const passwordProcessesMax = Math.max(1, Math.min(2, availableParallelism() - 1));

type Slot = ChildSlot<PasswordTask, string | boolean>;
type Queue = 'verify' | 'hash';

/** Hashes and verifies passwords. */
export type Passwords = ReturnType<typeof createPasswords>;

/**
 * Creates the password pool. Its processes start with the first password.
 * @param cost tests whose passwords protect nothing have a lower one. No setting changes it
 */
export function createPasswords(clock: Clock, childrenMax = passwordProcessesMax, cost = recommendedCost) {
  const costText = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`;
  const pool = createChildPool<PasswordTask, string | boolean, Queue>({
    file: new URL('../children/password-child.ts', import.meta.url),
    childrenMax,
    slotsPerChild: 1,
    queues: {
      verify: { concurrency: childrenMax, waitingMax: 64 },
      // A batch of registrations has at most 100 passwords.
      hash: { concurrency: 1, waitingMax: 128 },
    },
  });
  let dummyHash: string | undefined;

  function acquireAll(queue: Queue, passwords: number): Promise<Slot>[] {
    try {
      return pool.acquireAll(queue, passwords);
    } catch (error) {
      throw error instanceof QueueFull
        ? unavailable('Too many passwords wait to be checked. Try again in a moment.', 1)
        : error;
    }
  }

  /** Hashes several passwords. They are refused together. @throws AppError unavailable */
  const hashAll = async (passwords: readonly string[]) => {
    const slots = acquireAll('hash', passwords.length);
    return Promise.all(
      slots.map(async (waiting, index) => {
        using slot = await waiting;
        return await hashIn(slot, passwords[index] as string, cost);
      }),
    );
  };

  return {
    /** A PHC string to store. @throws AppError unavailable when too many passwords wait */
    hash: async (password: string) => (await hashAll([password]))[0] as string,
    hashAll,
    /**
     * Pass null for an unknown customer: it is false, and takes as long as for a wrong password.
     * @throws AppError unavailable
     */
    async verify(stored: string | null, password: string) {
      const [waiting] = acquireAll('verify', 1);
      using slot = await (waiting as Promise<Slot>);
      // Computed for the first password of any customer, so that its time does not show whether the customer exists.
      dummyHash ??= await hashIn(slot, clock.uuid(), cost);
      const isRight = (await run(slot, password, stored ?? dummyHash, cost)) === true;
      return isRight && stored !== null;
    },
    /** Whether it was hashed with other parameters than today's. Then hash it again at the next login. */
    isOutdated: (stored: string) => !stored.startsWith(costText),
    /** Slots in use, and passwords that wait. */
    stats: pool.stats,
    /** Ends the child processes that have nothing to do. */
    close: pool.close,
  };
}

async function hashIn(slot: Slot, password: string, cost: PasswordCost): Promise<string> {
  return String(await run(slot, password, null, cost));
}

async function run(
  slot: Slot,
  password: string,
  stored: string | null,
  cost: PasswordCost,
): Promise<string | boolean> {
  try {
    return await slot.run({ password: password.normalize('NFC'), stored, cost });
  } catch (error) {
    throw error instanceof ChildExited
      ? unavailable('The password could not be checked. Try again in a moment.', 1)
      : error;
  }
}

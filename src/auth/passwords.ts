/**
 * Passwords as argon2id (RFC 9106) with OWASP's figures: 19 MiB, two passes, one lane; about 15 ms of one core.
 *
 * Two are worked out at a time, whoever asks: they share the pool of threads with everything else, and more of them
 * side by side made other requests wait for a third of a second. Up to 64 wait in line; who comes later is turned away.
 */
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';

const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const costText = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`;
const slots = 2;
const waitingMax = 64;

export interface Passwords {
  /** A PHC string to keep. @throws AppError unavailable where too many wait */
  hash(password: string): Promise<string>;
  /** null, for somebody who is not there, takes as long as any wrong password. @throws AppError unavailable */
  verify(stored: string | null, password: string): Promise<boolean>;
  /** Was it made with other figures than today's? Then hash it anew at the next login. */
  isOutdated(stored: string): boolean;
}

export function createPasswords(clock: Clock): Passwords {
  const waiting: (() => void)[] = [];
  let running = 0;
  let loading: ReturnType<typeof load> | undefined;

  /** When the first password comes: starting does not wait for it. */
  async function load() {
    const argon2 = await import('@node-rs/argon2');
    return { argon2, nobody: await argon2.hash(clock.uuid(), cost) };
  }

  async function inSlot<T>(work: (loaded: Awaited<ReturnType<typeof load>>) => Promise<T>): Promise<T> {
    if (running >= slots) {
      if (waiting.length >= waitingMax) {
        throw new AppError(
          'unavailable',
          'Too many people are logging in right now. Try again in a moment.',
          {
            headers: { 'Retry-After': '1' },
          },
        );
      }
      // Whoever leaves hands its slot over, so `running` stays as it is.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      loading ??= load();
      return await work(await loading);
    } finally {
      const next = waiting.shift();
      if (next === undefined) {
        running -= 1;
      } else {
        next();
      }
    }
  }

  return {
    hash: (password) => inSlot(({ argon2 }) => argon2.hash(password.normalize('NFC'), cost)),
    verify: (stored, password) =>
      inSlot(async ({ argon2, nobody }) => {
        const isRight = await argon2.verify(stored ?? nobody, password.normalize('NFC'));
        return isRight && stored !== null;
      }),
    isOutdated: (stored) => !stored.startsWith(costText),
  };
}

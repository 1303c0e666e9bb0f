/**
 * Passwords as argon2id (RFC 9106) with OWASP's figures: 19 MiB, two passes, one lane; about 15 ms of one core.
 *
 * Two are worked out at a time, whoever asks: they share the pool of threads with everything else, and more of them
 * side by side made other requests wait for a third of a second. Those that are checked and those that are made wait in
 * lines of their own, and only one is made at a time: whoever registers thousands keeps nobody from logging in.
 */
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';

const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const costText = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`;
const slots = 2;

/** Passwords, of which at most `atOnce` are worked on and `waitingMax` wait. */
interface Line {
  readonly atOnce: number;
  readonly waitingMax: number;
  running: number;
  waitingPasswords: number;
  readonly waiting: { readonly passwords: number; readonly begin: () => void }[];
}

export interface Passwords {
  /** A PHC string to keep. @throws AppError unavailable where too many wait */
  hash(password: string): Promise<string>;
  /** The same for several, one after another; they are refused together. @throws AppError unavailable */
  hashAll(passwords: readonly string[]): Promise<string[]>;
  /** null, for somebody who is not there, takes as long as any wrong password. @throws AppError unavailable */
  verify(stored: string | null, password: string): Promise<boolean>;
  /** Was it made with other figures than today's? Then hash it anew at the next login. */
  isOutdated(stored: string): boolean;
}

export function createPasswords(clock: Clock): Passwords {
  const line = (atOnce: number, waitingMax: number): Line => ({
    atOnce,
    waitingMax,
    running: 0,
    waitingPasswords: 0,
    waiting: [],
  });
  const checked = line(slots, 64);
  // Room for a whole batch of registrations, and some.
  const made = line(1, 128);
  let turn = [checked, made];
  let loading: ReturnType<typeof load> | undefined;

  /** When the first password comes: starting does not wait for it. */
  async function load() {
    const argon2 = await import('@node-rs/argon2');
    return { argon2, nobody: await argon2.hash(clock.uuid(), cost) };
  }

  /** Lets in who may begin; the two lines take turns. */
  function admit(): void {
    for (;;) {
      const isFree = checked.running + made.running < slots;
      const next = turn.find(({ waiting, running, atOnce }) => waiting.length > 0 && running < atOnce);
      if (!isFree || next === undefined) {
        return;
      }
      turn = [...turn.filter((one) => one !== next), next];
      next.running += 1;
      const first = next.waiting.shift();
      next.waitingPasswords -= first?.passwords ?? 0;
      first?.begin();
    }
  }

  async function inLine<T>(
    own: Line,
    passwords: number,
    work: (loaded: Awaited<ReturnType<typeof load>>) => Promise<T>,
  ): Promise<T> {
    const isFree = own.running < own.atOnce && checked.running + made.running < slots;
    if (!isFree && own.waitingPasswords + passwords > own.waitingMax) {
      throw new AppError('unavailable', 'Too many passwords wait to be checked. Try again in a moment.', {
        headers: { 'Retry-After': '1' },
      });
    }
    await new Promise<void>((begin) => {
      own.waiting.push({ passwords, begin });
      own.waitingPasswords += passwords;
      admit();
    });
    try {
      loading ??= load();
      return await work(await loading);
    } finally {
      own.running -= 1;
      admit();
    }
  }

  return {
    hash: (password) => inLine(made, 1, ({ argon2 }) => argon2.hash(password.normalize('NFC'), cost)),
    hashAll: (passwords) =>
      inLine(made, passwords.length, async ({ argon2 }) => {
        const hashes: string[] = [];
        for (const password of passwords) {
          hashes.push(await argon2.hash(password.normalize('NFC'), cost));
        }
        return hashes;
      }),
    verify: (stored, password) =>
      inLine(checked, 1, async ({ argon2, nobody }) => {
        const isRight = await argon2.verify(stored ?? nobody, password.normalize('NFC'));
        return isRight && stored !== null;
      }),
    isOutdated: (stored) => !stored.startsWith(costText),
  };
}

/**
 * Passwords as argon2id (RFC 9106) with OWASP's figures: 19 MiB, two passes, one lane; about 15 ms of one core.
 *
 * Two threads of low priority work them out, whoever asks. In the shared pool of threads they made other requests wait
 * for up to 20 ms while people logged in; so it is a few. Those that are checked and those that are made wait in lines of
 * their own, and only one is made at a time: whoever registers thousands keeps nobody from logging in.
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Outcome, Task } from './password-worker.ts';

const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const costText = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`;
const threads = 2;

/** Passwords, of which at most `atOnce` are worked on and `waitingMax` wait. */
interface Line {
  readonly atOnce: number;
  readonly waitingMax: number;
  running: number;
  waitingPasswords: number;
  readonly waiting: { readonly passwords: number; readonly begin: (thread: Thread) => void }[];
}

interface Thread {
  hash(password: string): Promise<string>;
  verify(stored: string, password: string): Promise<boolean>;
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
  const checked = createLine(threads, 64);
  // Room for a whole batch of registrations, and some.
  const made = createLine(1, 128);
  const idle: Thread[] = [];
  let started = 0;
  let turn = [checked, made];
  let nobody: Promise<string> | undefined;

  /** Lets in who may begin; the two lines take turns. Threads are started when they are first needed. */
  function admit(): void {
    for (;;) {
      const next = turn.find(({ waiting, running, atOnce }) => waiting.length > 0 && running < atOnce);
      if (next === undefined || (idle.length === 0 && started === threads)) {
        return;
      }
      turn = [...turn.filter((one) => one !== next), next];
      next.running += 1;
      const first = next.waiting.shift();
      next.waitingPasswords -= first?.passwords ?? 0;
      started += idle.length === 0 ? 1 : 0;
      first?.begin(idle.pop() ?? startThread());
    }
  }

  async function inLine<T>(own: Line, passwords: number, work: (thread: Thread) => Promise<T>): Promise<T> {
    const isFree = own.running < own.atOnce && checked.running + made.running < threads;
    if (!isFree && own.waitingPasswords + passwords > own.waitingMax) {
      throw new AppError('unavailable', 'Too many passwords wait to be checked. Try again in a moment.', {
        headers: { 'Retry-After': '1' },
      });
    }
    const thread = await new Promise<Thread>((begin) => {
      own.waiting.push({ passwords, begin });
      own.waitingPasswords += passwords;
      admit();
    });
    try {
      return await work(thread);
    } finally {
      own.running -= 1;
      idle.push(thread);
      admit();
    }
  }

  return {
    hash: (password) => inLine(made, 1, (thread) => thread.hash(password)),
    hashAll: (passwords) =>
      inLine(made, passwords.length, async (thread) => {
        const hashes: string[] = [];
        for (const password of passwords) {
          hashes.push(await thread.hash(password));
        }
        return hashes;
      }),
    verify: (stored, password) =>
      inLine(checked, 1, async (thread) => {
        // Made for the first of either kind, so that it tells neither from the other.
        nobody ??= thread.hash(clock.uuid());
        const unknown = await nobody;
        const isRight = await thread.verify(stored ?? unknown, password);
        return isRight && stored !== null;
      }),
    isOutdated: (stored) => !stored.startsWith(costText),
  };
}

function createLine(atOnce: number, waitingMax: number): Line {
  return { atOnce, waitingMax, running: 0, waitingPasswords: 0, waiting: [] };
}

/** A thread does one thing at a time, and keeps the process alive only while it does. */
function startThread(): Thread {
  const worker = new Worker(new URL('password-worker.ts', import.meta.url));
  worker.unref();

  function run(task: Task): Promise<string | boolean> {
    return new Promise((resolve, reject) => {
      worker.ref();
      worker.once('message', (outcome: Outcome) => {
        worker.unref();
        worker.off('error', reject);
        if ('fault' in outcome) {
          reject(new Error(outcome.fault));
        } else {
          resolve(outcome.value);
        }
      });
      worker.once('error', reject);
      worker.postMessage(task);
    });
  }

  return {
    hash: async (password) => String(await run({ password: password.normalize('NFC'), stored: null, cost })),
    verify: async (stored, password) =>
      (await run({ password: password.normalize('NFC'), stored, cost })) === true,
  };
}

/**
 * Passwords as argon2id (RFC 9106) with OWASP's figures: 19 MiB, two passes, one lane; about 15 ms of one core.
 *
 * Two helpers of low priority work them out, processes of their own: in the pool of threads, and in threads of low
 * priority, they made other requests wait six to fifteen times as long while people logged in. Passwords that are checked
 * and those that are made wait in lines of their own, and only one is made at a time: whoever registers thousands keeps
 * nobody from logging in.
 */
import type { Clock } from '../clock.ts';
import { unavailable } from '../errors.ts';
import type { PasswordTask } from '../workers/password-worker.ts';
import { startWorkerProcess, WorkerExited } from '../workers/process.ts';

const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const costText = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`;
const workersMax = 2;

/** Passwords, of which at most `atOnce` are worked on and `waitingMax` wait. */
interface Lane {
  readonly atOnce: number;
  readonly waitingMax: number;
  running: number;
  waitingPasswords: number;
  readonly waiting: { readonly passwords: number; readonly begin: (worker: Worker) => void }[];
}

interface Worker {
  isAlive(): boolean;
  kill(): void;
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
  /** Passwords that are worked on, and those that wait for it. */
  stats(): { readonly running: number; readonly waiting: number };
  /** Ends the helpers that have nothing to do. */
  close(): void;
}

export function createPasswords(clock: Clock): Passwords {
  const verifyLane = createLane(workersMax, 64);
  // Room for a whole batch of registrations, and some.
  const hashLane = createLane(1, 128);
  let idle: Worker[] = [];
  let started = 0;
  let turn = [verifyLane, hashLane];
  let dummyHash: string | undefined;

  /** Lets in who may begin; the two lines take turns. Helpers are started when they are first needed. */
  function startWaiting(): void {
    for (;;) {
      const next = turn.find(({ waiting, running, atOnce }) => waiting.length > 0 && running < atOnce);
      if (next === undefined || (idle.length === 0 && started === workersMax)) {
        return;
      }
      turn = [...turn.filter((one) => one !== next), next];
      next.running += 1;
      const first = next.waiting.shift();
      next.waitingPasswords -= first?.passwords ?? 0;
      started += idle.length === 0 ? 1 : 0;
      first?.begin(idle.pop() ?? startWorker(replace));
    }
  }

  /** One has ended, whatever ended it. */
  function replace(): void {
    started -= 1;
    idle = idle.filter((worker) => worker.isAlive());
    startWaiting();
  }

  async function runInLane<T>(
    own: Lane,
    passwords: number,
    work: (worker: Worker) => Promise<T>,
  ): Promise<T> {
    const isFree = own.running < own.atOnce && verifyLane.running + hashLane.running < workersMax;
    if (!isFree && own.waitingPasswords + passwords > own.waitingMax) {
      throw unavailable('Too many passwords wait to be checked. Try again in a moment.', 1);
    }
    const helper = await new Promise<Worker>((begin) => {
      own.waiting.push({ passwords, begin });
      own.waitingPasswords += passwords;
      startWaiting();
    });
    try {
      return await work(helper);
    } finally {
      own.running -= 1;
      if (helper.isAlive()) {
        idle.push(helper);
      }
      startWaiting();
    }
  }

  return {
    hash: (password) => runInLane(hashLane, 1, (worker) => worker.hash(password)),
    hashAll: (passwords) =>
      runInLane(hashLane, passwords.length, async (worker) => {
        const hashes: string[] = [];
        for (const password of passwords) {
          hashes.push(await worker.hash(password));
        }
        return hashes;
      }),
    verify: (stored, password) =>
      runInLane(verifyLane, 1, async (worker) => {
        // Made for the first of either kind, so that it tells neither from the other.
        dummyHash ??= await worker.hash(clock.uuid());
        const isRight = await worker.verify(stored ?? dummyHash, password);
        return isRight && stored !== null;
      }),
    stats: () => ({
      running: hashLane.running + verifyLane.running,
      waiting: hashLane.waitingPasswords + verifyLane.waitingPasswords,
    }),
    isOutdated: (stored) => !stored.startsWith(costText),
    close() {
      for (const worker of idle) {
        worker.kill();
      }
    },
  };
}

function createLane(atOnce: number, waitingMax: number): Lane {
  return { atOnce, waitingMax, running: 0, waitingPasswords: 0, waiting: [] };
}

function startWorker(onEnd: () => void): Worker {
  const file = new URL('../workers/password-worker.ts', import.meta.url);
  const worker = startWorkerProcess<PasswordTask, string | boolean>(file, onEnd);

  async function run(password: string, stored: string | null): Promise<string | boolean> {
    try {
      return await worker.run({ password: password.normalize('NFC'), stored, cost });
    } catch (error) {
      throw error instanceof WorkerExited
        ? unavailable('The password could not be checked. Try again in a moment.', 1)
        : error;
    }
  }

  return {
    isAlive: worker.isAlive,
    kill: worker.kill,
    hash: async (password) => String(await run(password, null)),
    verify: async (stored, password) => (await run(password, stored)) === true,
  };
}

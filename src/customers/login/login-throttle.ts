/**
 * Limits failed logins: by username and client IP, by client IP, and by username.
 *
 * Only failures count. While a password is verified, its attempt is recorded as running. Other attempts wait if all
 * running ones could exceed a limit when they fail: parallel attempts get no more tries than sequential ones, and
 * correct logins do not refuse each other. After too many failures for a username, its attempts are delayed, not
 * refused; known networks have a separate counter. See docs/decisions/0010-failed-logins.md.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, timestamp } from '../../clock.ts';
import { batchCalls } from '../../database/batch-calls.ts';
import type { Database, Sql } from '../../database/database.ts';
import { purgeInSlices } from '../../database/purge.ts';
import { advisoryLock } from '../../database/sql.ts';
import { AppError } from '../../errors.ts';
import type { LoginLimits } from '../../settings/config.ts';
import { customerQueries, type FailureRow } from '../queries.ts';
import { toNetwork } from './networks.ts';

const quarterHourMs = 15 * 60_000;
const hourMs = 60 * 60_000;
/** No password takes that long to verify: an attempt that runs longer belongs to a process that was killed. */
const runningMs = 60_000;
/** How often a waiting attempt reads the counters again. */
const pollMs = 50;
/** How long an attempt waits at most. */
const waitMaxMs = 10_000;
/** The interval between attempts for a username that is delayed. */
const delayMs = 10_000;
/** Attempts that may wait on one instance at the same time. Each of them keeps a request open. */
const waitingMax = 256;

const failuresLock = advisoryLock('failed logins');

/** A counter of failures. */
interface Counter {
  readonly id: string;
  readonly limit: number;
  readonly windowMs: number;
  /** True above the limit: attempts are delayed and not refused. */
  readonly isDelaying: boolean;
}

/** The result of an attempt. `unverified`: no password was verified, or the result is unknown. */
export type LoginOutcome = 'succeeded' | 'failed' | 'unverified';

export interface Attempt {
  end(outcome: LoginOutcome): Promise<void>;
}

/** The values of a counter in the database. */
interface State {
  readonly endsAt: number;
  failures: number;
  running: number;
  runningUntil: number;
  nextAt: number;
}

type Verdict =
  /** `at` is when the attempt may run. */
  | { readonly kind: 'admitted'; readonly at: number }
  /** Whether the limit is reached depends on attempts that still run. */
  | { readonly kind: 'undecided' }
  | { readonly kind: 'refused'; readonly by: Counter; readonly waitMs: number };

/** The end of an attempt or, without an outcome, its start. */
interface Entry {
  readonly counters: readonly Counter[];
  readonly outcome: LoginOutcome | null;
  readonly mayWait: boolean;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly limits: LoginLimits;
  /** Usernames and client IPs are stored as digests under this key. */
  readonly secret: string;
}

export type LoginThrottle = ReturnType<typeof createLoginThrottle>;

export function createLoginThrottle({ database, clock, limits, secret }: Dependencies) {
  let waiting = 0;
  /** One batch at a time on each instance, so that a flood of logins uses only one connection. */
  const enter = batchCalls(apply);

  function countersOf(usernameKey: string, clientIp: string, isKnown: boolean): Counter[] {
    const counter = (name: keyof LoginLimits, windowMs: number, ...subjects: string[]): Counter => ({
      id: createHmac('sha256', secret)
        .update(JSON.stringify([name, ...subjects]))
        .digest('hex'),
      limit: limits[name],
      windowMs,
      isDelaying: name === 'username',
    });
    return [
      counter('pair', quarterHourMs, usernameKey, clientIp),
      counter('address', quarterHourMs, clientIp),
      // A known network has a separate counter, so that attempts from other networks cannot exhaust it.
      counter('username', hourMs, usernameKey, ...(isKnown ? [toNetwork(clientIp)] : [])),
    ];
  }

  /** Each change of counters takes this lock first, so that transactions of several instances cannot deadlock. */
  async function lock(tx: Sql): Promise<void> {
    await tx.get(failuresLock);
  }

  async function apply(entries: readonly Entry[]): Promise<Verdict[]> {
    const counters = new Map(
      entries.flatMap(({ counters }) => counters.map((counter) => [counter.id, counter])),
    );
    // A crash of the machine may lose the last attempts.
    return database.relaxedTransaction(async (tx) => {
      const [, found] = await Promise.all([lock(tx), customerQueries(tx).listFailures([...counters.keys()])]);
      const rows = new Map(found.map((row) => [row.id, row]));
      const now = clock.now();
      const states = new Map<string, State>();
      for (const [id, counter] of counters) {
        states.set(id, stateOf(rows.get(id), counter, now));
      }
      const changed = new Set<string>();
      const verdicts: Verdict[] = [];
      for (const { counters: own, outcome, mayWait } of entries) {
        const counted = own.map((counter) => ({ counter, state: states.get(counter.id) as State }));
        const verdict = outcome === null ? start(counted, now, mayWait) : end(counted, outcome, now);
        verdicts.push(verdict);
        if (verdict.kind === 'admitted') {
          for (const { id } of own) {
            changed.add(id);
          }
        }
      }
      if (changed.size > 0) {
        const written = [...changed].map((id) => rowOf(id, states.get(id) as State));
        await customerQueries(tx).upsertFailures(written);
      }
      return verdicts;
    });
  }

  async function wait(isOver: () => boolean): Promise<void> {
    waiting += 1;
    do {
      await sleep(pollMs);
    } while (!isOver());
    waiting -= 1;
  }

  async function waitForAdmission(counters: readonly Counter[]): Promise<void> {
    const deadline = performance.now() + waitMaxMs;
    for (;;) {
      const mayWait = waiting < waitingMax;
      const verdict = await enter({ counters, outcome: null, mayWait });
      if (verdict.kind === 'admitted') {
        if (verdict.at > clock.now()) {
          // The deadline applies if the clock is set back.
          await wait(() => clock.now() >= verdict.at || performance.now() > deadline);
        }
        return;
      }
      if (verdict.kind === 'refused') {
        throw refusal(verdict.by, verdict.waitMs, 'Too many logins have failed.');
      }
      if (!mayWait || performance.now() > deadline) {
        throw refusal(counters[0] as Counter, 1000, 'Too many logins run at the same time.');
      }
      await wait(() => true);
    }
  }

  return {
    /**
     * Records an attempt, and waits if it must be delayed. End the attempt that it returns.
     * @param isKnown whether the customer has logged in from this network before
     * @throws AppError rateLimited
     */
    async recordAttempt(usernameKey: string, clientIp: string, isKnown: boolean): Promise<Attempt> {
      const counters = countersOf(usernameKey, clientIp, isKnown);
      await waitForAdmission(counters);
      return {
        async end(outcome) {
          // The login has its result already. If this fails, the attempt stops counting as running after a minute.
          await enter({ counters, outcome, mayWait: false }).catch(() => {});
        },
      };
    },

    /** Clears the failures of a username: its own, those from the client IP, and those from the network of this IP. */
    async clear(tx: Sql, usernameKey: string, clientIp: string) {
      const [pair, , username] = countersOf(usernameKey, clientIp, false);
      const [, , knownNetwork] = countersOf(usernameKey, clientIp, true);
      await tx.get(failuresLock);
      await customerQueries(tx).deleteFailures(
        [pair, username, knownNetwork].flatMap((counter) => (counter === undefined ? [] : [counter.id])),
      );
    },

    /** Deletes counters whose window has ended. Returns whether some are left. Call it regularly. */
    purge: (): Promise<boolean> =>
      purgeInSlices(database, async (tx, limit) => {
        await lock(tx);
        const now = clock.now();
        return customerQueries(tx).deletePastFailures(timestamp(now), timestamp(now + hourMs), limit);
      }),
  };
}

/** A window starts with its first attempt. One that ends too late was started while the clock was ahead. */
function stateOf(row: FailureRow | undefined, { windowMs }: Counter, now: number): State {
  const runningUntil = millisecondsOf(row?.running_until);
  const running = runningUntil > now ? (row?.running ?? 0) : 0;
  const failures = row?.failures ?? 0;
  const endsAt = millisecondsOf(row?.ends_at);
  const isCurrent = endsAt > now && endsAt <= now + windowMs && failures + running > 0;
  const nextAt = millisecondsOf(row?.next_at);
  return isCurrent
    ? { endsAt, failures, running, runningUntil, nextAt: nextAt > now + waitMaxMs + delayMs ? 0 : nextAt }
    : { endsAt: now + windowMs, failures: 0, running: 0, runningUntil: 0, nextAt: 0 };
}

interface Counted {
  readonly counter: Counter;
  readonly state: State;
}

function start(counted: readonly Counted[], now: number, mayWait: boolean): Verdict {
  const reached = counted.filter(({ counter, state }) => state.failures >= counter.limit);
  const [refusing] = reached
    .filter(({ counter }) => !counter.isDelaying)
    .toSorted((a, b) => b.state.endsAt - a.state.endsAt);
  if (refusing !== undefined) {
    return { kind: 'refused', by: refusing.counter, waitMs: refusing.state.endsAt - now };
  }
  const open = counted.filter((counter) => !reached.includes(counter));
  if (open.some(({ counter, state }) => state.failures + state.running >= counter.limit)) {
    return { kind: 'undecided' };
  }
  let at = now;
  for (const { counter, state } of reached) {
    at = Math.max(now, state.nextAt);
    const latest = now + (mayWait ? waitMaxMs : 0);
    if (at > latest) {
      return { kind: 'refused', by: counter, waitMs: at - latest };
    }
    state.nextAt = at + delayMs;
  }
  for (const { state } of counted) {
    state.running += 1;
    state.runningUntil = at + runningMs;
  }
  return { kind: 'admitted', at };
}

/** @param counted the counter for username and client IP first: a correct login clears it */
function end(counted: readonly Counted[], outcome: LoginOutcome, now: number): Verdict {
  for (const [index, { state }] of counted.entries()) {
    state.running = Math.max(0, state.running - 1);
    state.failures += outcome === 'failed' ? 1 : 0;
    state.failures = outcome === 'succeeded' && index === 0 ? 0 : state.failures;
  }
  return { kind: 'admitted', at: now };
}

function rowOf(id: string, { endsAt, failures, running, runningUntil, nextAt }: State): FailureRow {
  return {
    id,
    failures,
    ends_at: timestamp(endsAt),
    running,
    running_until: textOf(runningUntil),
    next_at: textOf(nextAt),
  };
}

function textOf(time: number): string {
  return time === 0 ? '' : timestamp(time);
}

function millisecondsOf(time = ''): number {
  return time === '' ? 0 : Date.parse(time);
}

function refusal({ limit, windowMs }: Counter, waitMs: number, reason: string): AppError {
  const windowSeconds = windowMs / 1000;
  return new AppError('rateLimited', `${reason} Wait as long as Retry-After says.`, {
    details: {
      retryAfterMs: waitMs,
      limits: [{ policy: 'login', limit, windowSeconds, remaining: 0, resetMs: waitMs }],
    },
  });
}

/**
 * Limits failed logins: by username and client IP, by client IP, and by username.
 *
 * Only failures count. While a password is being checked, its attempt is recorded as running, and other attempts wait
 * where all that runs could exceed a limit: so many parallel attempts get no more tries than one after another, and
 * correct logins do not keep each other out. See docs/decisions/0012-failed-logins.md.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, timestamp } from '../clock.ts';
import type { LoginLimits } from '../config.ts';
import { inBatches } from '../database/batches.ts';
import type { Database, Sql } from '../database/database.ts';
import { asynchronousCommit, lockOn } from '../database/sql.ts';
import { rateLimited } from '../errors.ts';
import { customerQueries, type FailureRow } from './queries.ts';

const quarterHourMs = 15 * 60_000;
const hourMs = 60 * 60_000;
/** No password takes as long to check. What runs longer belongs to a process that was killed. */
const runningMs = 60_000;
/** How often the current state is looked at while an attempt waits. */
const pollMs = 50;
/** How long an attempt waits at most. */
const patienceMs = 10_000;
/** Attempts that wait at once, on one instance. Each of them keeps one request open. */
const waitingMax = 256;

/** What failures are counted under. */
interface Counter {
  readonly id: string;
  readonly limit: number;
  readonly windowMs: number;
}

/** How an attempt ended. `unverified`: no password was compared, or its result is not known. */
export type Outcome = 'succeeded' | 'failed' | 'unverified';

export interface Attempt {
  end(outcome: Outcome): Promise<void>;
}

export interface Throttle {
  /** Admits an attempt, which waits if it has to. End it. @throws AppError rateLimited */
  begin(usernameKey: string, clientIp: string): Promise<Attempt>;
  /** Deletes counters whose window is over. */
  purge(): Promise<void>;
}

/** A counter in the database, read at a moment. */
interface State {
  readonly endsAt: number;
  failures: number;
  running: number;
  runningUntil: number;
}

type Verdict =
  | { readonly kind: 'admitted' }
  /** Attempts that run may use up the limit, or not. */
  | { readonly kind: 'undecided' }
  | { readonly kind: 'refused'; readonly by: Counter; readonly waitMs: number };

/** Null as outcome: the attempt begins. */
interface Entry {
  readonly counters: readonly Counter[];
  readonly outcome: Outcome | null;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly limits: LoginLimits;
  /** Usernames and client IPs are stored as digests under this key. */
  readonly secret: string;
}

export function createThrottle({ database, clock, limits, secret }: Dependencies): Throttle {
  let waiting = 0;
  /** One statement at a time and instance: a flood of logins occupies one connection. */
  const enter = inBatches(apply);

  function countersOf(usernameKey: string, clientIp: string): Counter[] {
    const counter = (name: keyof LoginLimits, windowMs: number, ...what: string[]): Counter => ({
      id: createHmac('sha256', secret)
        .update(JSON.stringify([name, ...what]))
        .digest('hex'),
      limit: limits[name],
      windowMs,
    });
    return [
      counter('pair', quarterHourMs, usernameKey, clientIp),
      counter('address', quarterHourMs, clientIp),
      counter('username', hourMs, usernameKey),
    ];
  }

  /** Every change of the counters holds this lock, on all instances: no two of them can deadlock. */
  async function lock(tx: Sql): Promise<void> {
    await tx.get(lockOn('failed logins'));
    await tx.get(asynchronousCommit);
  }

  async function apply(entries: readonly Entry[]): Promise<Verdict[]> {
    const counters = new Map(entries.flatMap(({ counters }) => counters.map((one) => [one.id, one])));
    return database.transaction(async (tx) => {
      await lock(tx);
      const rows = await customerQueries(tx).listFailures([...counters.keys()]);
      const now = clock.now();
      const states = new Map<string, State>();
      for (const [id, counter] of counters) {
        const row = rows.find((one) => one.id === id);
        states.set(id, stateOf(row, counter, now));
      }
      const changed = new Set<string>();
      const verdicts: Verdict[] = [];
      for (const { counters: own, outcome } of entries) {
        const counted = own.map((counter) => ({ counter, state: states.get(counter.id) as State }));
        const verdict = outcome === null ? begin(counted, now) : end(counted, outcome);
        verdicts.push(verdict);
        if (verdict.kind === 'admitted') {
          for (const { id } of own) {
            changed.add(id);
          }
        }
      }
      await customerQueries(tx).upsertFailures([...changed].map((id) => rowOf(id, states.get(id) as State)));
      return verdicts;
    });
  }

  async function admitted(counters: readonly Counter[]): Promise<void> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const verdict = await enter({ counters, outcome: null });
      if (verdict.kind === 'admitted') {
        return;
      }
      if (verdict.kind === 'refused') {
        throw refusal(verdict.by, verdict.waitMs, 'Too many logins have failed.');
      }
      if (waiting >= waitingMax || performance.now() > deadline) {
        throw refusal(counters[0] as Counter, 1000, 'Too many logins run at the same time.');
      }
      waiting += 1;
      await sleep(pollMs);
      waiting -= 1;
    }
  }

  return {
    async begin(usernameKey, clientIp) {
      const counters = countersOf(usernameKey, clientIp);
      await admitted(counters);
      return {
        async end(outcome) {
          // The result of the login is known by now. If this fails, the attempt stops running after a minute.
          await enter({ counters, outcome }).catch(() => {});
        },
      };
    },

    purge: () =>
      database.transaction(async (tx) => {
        await lock(tx);
        const now = clock.now();
        await customerQueries(tx).deletePastFailures(timestamp(now), timestamp(now + hourMs));
      }),
  };
}

/** A window begins with its first attempt. One that ends too late was begun while the clock was ahead. */
function stateOf(row: FailureRow | undefined, { windowMs }: Counter, now: number): State {
  const runningUntil = millisecondsOf(row?.running_until);
  const running = runningUntil > now ? (row?.running ?? 0) : 0;
  const failures = row?.failures ?? 0;
  const endsAt = millisecondsOf(row?.ends_at);
  const isCurrent = endsAt > now && endsAt <= now + windowMs && failures + running > 0;
  return isCurrent
    ? { endsAt, failures, running, runningUntil }
    : { endsAt: now + windowMs, failures: 0, running: 0, runningUntil: 0 };
}

function begin(counted: readonly { counter: Counter; state: State }[], now: number): Verdict {
  for (const { counter, state } of counted) {
    if (state.failures >= counter.limit) {
      return { kind: 'refused', by: counter, waitMs: state.endsAt - now };
    }
  }
  if (counted.some(({ counter, state }) => state.failures + state.running >= counter.limit)) {
    return { kind: 'undecided' };
  }
  for (const { state } of counted) {
    state.running += 1;
    state.runningUntil = now + runningMs;
  }
  return { kind: 'admitted' };
}

/** @param counted the one for username and client IP first, which a correct login clears */
function end(counted: readonly { state: State }[], outcome: Outcome): Verdict {
  for (const [index, { state }] of counted.entries()) {
    state.running = Math.max(0, state.running - 1);
    state.failures += outcome === 'failed' ? 1 : 0;
    state.failures = outcome === 'succeeded' && index === 0 ? 0 : state.failures;
  }
  return { kind: 'admitted' };
}

function rowOf(id: string, { endsAt, failures, running, runningUntil }: State): FailureRow {
  const running_until = runningUntil === 0 ? '' : timestamp(runningUntil);
  return { id, failures, ends_at: timestamp(endsAt), running, running_until, next_at: '' };
}

function millisecondsOf(time = ''): number {
  return time === '' ? 0 : Date.parse(time);
}

function refusal({ limit, windowMs }: Counter, waitMs: number, why: string) {
  return rateLimited(`${why} Wait as long as Retry-After says.`, waitMs, {
    'RateLimit-Policy': `"login";q=${limit};w=${windowMs / 1000}`,
    RateLimit: `"login";r=0;t=${Math.ceil(waitMs / 1000)}`,
  });
}

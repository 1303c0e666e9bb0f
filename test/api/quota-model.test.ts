/** Both limits of a plan on a real database with a test clock, against a model: the times of the requests that passed. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { Principal } from '../../src/access/principal.ts';
import type { Database } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import type { Engine } from '../../src/database/sql.ts';
import { AppError } from '../../src/errors.ts';
import { toErrorHeaders, toErrorStatus } from '../../src/http/responses/error-mapping.ts';
import { createLocalCounter } from '../../src/limits/local-counter.ts';
import { createPostgresCounter } from '../../src/limits/postgres-counter.ts';
import { createRateLimits, type RateLimits } from '../../src/limits/rate-limits.ts';
import type { RequestCharge, UsageCounter } from '../../src/limits/usage-counter.ts';
import type { PlanLimits } from '../../src/settings/config.ts';
import { onBothEngines, type TestClock, testClock, until } from '../context.ts';
import { freshConfig, open } from '../database/notes.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;
const start = Date.parse('2026-06-01T12:00:00.000Z');
const addressLimits = { perMinute: 60_000, accountsPerMinute: 60_000, publicPerMinute: 60_000 };

const publishableLimits = { perMinute: 60_000, burst: 60_000 };

type Plans = Readonly<Record<string, PlanLimits>>;

/** A process that counts requests. */
interface Server {
  readonly counts: UsageCounter;
  readonly rateLimits: RateLimits;
}

async function freshDatabase(t: TestContext, engine: Engine): Promise<Database> {
  const database = await open(t, await freshConfig(t, engine));
  await migrate(database);
  return database;
}

function startServer(database: Database, clock: TestClock, plans: Plans): Server {
  const create = database.engine === 'sqlite' ? createLocalCounter : createPostgresCounter;
  const counts = create(database, clock);
  return {
    counts,
    rateLimits: createRateLimits({ config: { plans, addressLimits, publishableLimits }, clock, counts }),
  };
}

let accounts = 0;
/** An account that sent no request before. */
const freshAccount = () => {
  accounts += 1;
  return accounts;
};

function principalOf(accountId: number, plan = 'only'): Principal {
  const nothing = {
    customerId: null,
    limits: null,
    expiresAt: null,
    sessionHash: null,
    tokenHash: null,
    confinedTo: null,
  };
  return { kind: 'apiKey', id: 'key:1', accountId, plan, scopes: new Set(), audience: 'any', ...nothing };
}

/** The charge, or the seconds of Retry-After. */
async function call(
  { rateLimits }: Server,
  accountId: number,
  plan = 'only',
): Promise<RequestCharge | number> {
  try {
    return await rateLimits.charge(principalOf(accountId, plan));
  } catch (error) {
    assert.ok(error instanceof AppError && toErrorStatus(error) === 429, String(error));
    const seconds = Number(toErrorHeaders(error)['Retry-After']);
    assert.ok(Number.isInteger(seconds) && seconds >= 1);
    return seconds;
  }
}

const within = (times: readonly number[], now: number, ms: number) =>
  times.filter((at) => at > now - ms).length;
/** Several servers count requests of the same 20 ms together, until the last of them is a second old. */
const inSecond = (engine: Engine, times: readonly number[], now: number) =>
  times.filter((at) => {
    const latest = Math.max(...times.filter((one) => Math.floor(one / 20) === Math.floor(at / 20)));
    return (engine === 'sqlite' ? at : latest) > now - 1000;
  }).length;
/** Requests of the current minute and the 60 before it. */
const counting = (times: readonly number[], now: number) =>
  times.filter((at) => Math.floor(at / minuteMs) > Math.floor(now / minuteMs) - 61).length;

const anyGap = fc.oneof(
  { weight: 10, arbitrary: fc.constant(0) },
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 999 }) },
  { weight: 5, arbitrary: fc.integer({ min: 1000, max: 40_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 40_000, max: 1_500_000 }) },
);
const anyStep = fc.record({
  gap: anyGap,
  /** The number of requests at that time. */
  calls: fc.integer({ min: 1, max: 12 }),
  isFree: fc.nat(9).map((number) => number === 0),
  event: fc.nat(40).map((number) => (['close', 'crash', 'change'] as const)[number] ?? 'nothing'),
  server: fc.nat(1),
});
const anySteps = fc.array(anyStep, { minLength: 20, maxLength: 60 });
const anyLimits = fc.record({
  perHour: fc.constantFrom(1, 20, 60, 100, 250, 600),
  burst: fc.integer({ min: 1, max: 15 }),
});
const runsOf = (engine: Engine) => ({ numRuns: engine === 'sqlite' ? 8 : 4 });

onBothEngines('The limits of a plan', (engine) => {
  test('The limits of a plan are exact on one server, also across restarts', async (t) => {
    const database = await freshDatabase(t, engine);
    const property = fc.asyncProperty(anyLimits, anySteps, fc.nat(minuteMs), async (limits, steps, phase) => {
      const clock = testClock(start + phase);
      const account = freshAccount();
      let server = startServer(database, clock, { only: limits });
      const paid: number[] = [];
      let all: number[] = [];
      for (const { gap, calls, isFree, event } of steps) {
        clock.advance(gap);
        if (event === 'close') {
          await server.counts.close();
          // A refund of the closed server, which the next one would not know yet.
          await until(async () => database.stats().waiting === 0);
          server = startServer(database, clock, { only: limits });
          // A single server keeps the second in memory only.
          all = engine === 'sqlite' ? [] : all;
        }
        for (let one = 0; one < calls; one += 1) {
          const now = clock.now();
          const isBurst = inSecond(engine, all, now) >= limits.burst;
          const isSpent = counting(paid, now) >= limits.perHour;
          const charge = await call(server, account);
          assert.equal(typeof charge === 'number', isBurst || isSpent, `${isBurst} ${isSpent} ${charge}`);
          if (typeof charge === 'number') {
            continue;
          }
          all.push(now);
          if (isFree) {
            charge.refund();
          } else {
            paid.push(now);
          }
          const { hour, burst } = charge.rateLimitStatus();
          assert.equal(hour?.remaining, limits.perHour - counting(paid, now));
          assert.equal(burst.remaining, limits.burst - inSecond(engine, all, now));
        }
      }
    });
    await fc.assert(property, runsOf(engine));
  });

  test('The limits of a plan are never exceeded by two servers together, despite crashes and changes of plan', async (t) => {
    const database = await freshDatabase(t, engine);
    const property = fc.asyncProperty(anyLimits, anyLimits, anySteps, async (first, second, steps) => {
      const clock = testClock();
      const account = freshAccount();
      const plans = { first, second };
      let plan: 'first' | 'second' = 'first';
      let changedAt = Number.NEGATIVE_INFINITY;
      const servers = [startServer(database, clock, plans), startServer(database, clock, plans)];
      const paid: number[] = [];
      const together: number[] = [];
      const ofServers = engine === 'sqlite' ? [[], []] : [together, together];
      // On SQLite a server may still have a lease of the plan before the last two changes, for the rest of its minute.
      const perHourAt = (now: number) =>
        engine === 'sqlite' && Math.floor(changedAt / minuteMs) === Math.floor(now / minuteMs)
          ? Math.max(first.perHour, second.perHour)
          : plans[plan].perHour;
      for (const { gap, calls, isFree, event, server } of steps) {
        clock.advance(gap);
        if (event === 'change') {
          plan = plan === 'first' ? 'second' : 'first';
          changedAt = clock.now();
        } else if (event !== 'nothing') {
          await (event === 'close' ? servers[server]?.counts.close() : undefined);
          servers[server] = startServer(database, clock, plans);
          ofServers[server] = engine === 'sqlite' ? [] : together;
        }
        const now = clock.now();
        const own = ofServers[server] as number[];
        const charges = await Promise.all(
          Array.from({ length: calls }, () => call(servers[server] as Server, account, plan)),
        );
        for (const charge of charges) {
          if (typeof charge !== 'number') {
            own.push(now);
            if (isFree) {
              charge.refund();
            } else {
              paid.push(now);
            }
          }
        }
        // A refund is a statement of its own. With the time of an earlier step, it would see the next ones in the future.
        await until(async () => database.stats().waiting === 0);
        if (charges.some((charge) => typeof charge !== 'number')) {
          assert.ok(isFree || within(paid, now, hourMs) <= perHourAt(now), 'too many in an hour');
          assert.ok(within(own, now, 1000) <= plans[plan].burst, 'too many in a second');
        }
      }
    });
    await fc.assert(property, runsOf(engine));
  });

  test('The limits of a plan do not count requests that they refuse', async (t) => {
    const database = await freshDatabase(t, engine);
    const property = fc.asyncProperty(anyLimits, anySteps, async (limits, steps) => {
      const passed = async (repetitions: number) => {
        const clock = testClock();
        const server = startServer(database, clock, { only: limits });
        const account = freshAccount();
        const times: number[] = [];
        for (const { gap, calls } of steps) {
          clock.advance(gap);
          for (let one = 0; one < calls; one += 1) {
            const charge = await call(server, account);
            if (typeof charge !== 'number') {
              times.push(clock.now());
              continue;
            }
            for (let again = 0; again < repetitions; again += 1) {
              assert.equal(await call(server, account), charge);
            }
          }
        }
        return times;
      };
      assert.deepEqual(await passed(1), await passed(0));
    });
    await fc.assert(property, runsOf(engine));
  });

  test('The limits of a plan permit a request after Retry-After', async (t) => {
    const database = await freshDatabase(t, engine);
    const property = fc.asyncProperty(anyLimits, anySteps, async (limits, steps) => {
      const clock = testClock();
      const account = freshAccount();
      const server = startServer(database, clock, { only: limits });
      for (const { gap, calls } of steps) {
        clock.advance(gap);
        for (let one = 0; one < calls; one += 1) {
          const charge = await call(server, account);
          if (typeof charge === 'number') {
            clock.advance(charge * 1000);
            assert.equal(typeof (await call(server, account)), 'object', `after ${charge} s`);
          }
        }
      }
    });
    await fc.assert(property, runsOf(engine));
  });

  test('The limits of a plan permit a request after Retry-After, also after a change to a smaller plan', async (t) => {
    const clock = testClock();
    const plans = { large: { perHour: 200, burst: 500 }, small: { perHour: 100, burst: 500 } };
    const server = startServer(await freshDatabase(t, engine), clock, plans);
    for (const calls of [20, 150]) {
      for (let one = 0; one < calls; one += 1) {
        assert.equal(typeof (await call(server, 0, 'large')), 'object');
      }
      clock.advance(minuteMs);
    }
    const seconds = await call(server, 0, 'small');
    assert.ok(typeof seconds === 'number');
    clock.advance(seconds * 1000);
    assert.equal(typeof (await call(server, 0, 'small')), 'object', `after ${seconds} s`);
  });

  test('The limits of a plan permit 95 of 100 requests at an even rate, on two servers that restart', async (t) => {
    const database = await freshDatabase(t, engine);
    for (const perHour of [100, 300]) {
      const plans = { only: { perHour, burst: 10 } };
      const clock = testClock();
      const account = freshAccount();
      const servers = [startServer(database, clock, plans), startServer(database, clock, plans)];
      let passed = 0;
      for (let one = 0; one < 3 * perHour; one += 1) {
        if (one % (perHour / 5) === 0) {
          await servers[1]?.counts.close();
          servers[1] = startServer(database, clock, plans);
        }
        passed += typeof (await call(servers[one % 2] as Server, account)) === 'number' ? 0 : 1;
        clock.advance(hourMs / perHour);
      }
      assert.ok(passed >= 3 * perHour * 0.95, `${passed} of ${3 * perHour}`);
    }
  });

  test('The limits of a plan return unused leases, also to a caller with few requests', async (t) => {
    const clock = testClock();
    const server = startServer(await freshDatabase(t, engine), clock, { only: { perHour: 1000, burst: 10 } });
    let remaining: number | undefined;
    for (let one = 0; one < 10; one += 1) {
      const charge = await call(server, 0);
      remaining = (charge as RequestCharge).rateLimitStatus().hour?.remaining;
      for (const _ of [1, 2]) {
        clock.advance(2.5 * minuteMs);
        await call(server, freshAccount());
      }
    }
    assert.equal(remaining, 990);
  });

  test('The limits of a plan apply in every second while other accounts send requests', async (t) => {
    const clock = testClock();
    const server = startServer(await freshDatabase(t, engine), clock, { only: { perHour: null, burst: 10 } });
    for (let second = 0; second < 6; second += 1) {
      clock.advance(1000);
      assert.equal(typeof (await call(server, 0)), 'object');
    }
    for (let one = 0; one < 9; one += 1) {
      assert.equal(typeof (await call(server, 0)), 'object');
    }
    await call(server, freshAccount());
    assert.equal(await call(server, 0), 1, 'an eleventh call within a second');
  });

  test('The limits of a plan are exact when a refunded request was counted in the minute before', async (t) => {
    const clock = testClock();
    const server = startServer(await freshDatabase(t, engine), clock, { only: { perHour: 2, burst: 10 } });
    clock.advance(minuteMs - 1);
    const slow = await call(server, 0);
    clock.advance(2);
    await call(server, 0);
    (slow as RequestCharge).refund();
    const paid = [clock.now()];
    for (const wait of [minuteMs - 2, hourMs - minuteMs + 1]) {
      clock.advance(wait);
      for (let one = 0; one < 3; one += 1) {
        if (typeof (await call(server, 0)) !== 'number') {
          paid.push(clock.now());
        }
      }
      assert.ok(within(paid, clock.now(), hourMs) <= 2, `${within(paid, clock.now(), hourMs)} in an hour`);
    }
  });

  test('The limits of a plan are exact when requests of two minutes are refunded at the same time', async (t) => {
    const clock = testClock();
    const server = startServer(await freshDatabase(t, engine), clock, { only: { perHour: 3, burst: 10 } });
    const slow = await call(server, 0);
    clock.advance(minuteMs);
    const quick = await call(server, 0);
    // Requests that arrive while one is counted are batched.
    const third = call(server, 0);
    (quick as RequestCharge).refund();
    (slow as RequestCharge).refund();
    await third;
    const more = [await call(server, 0), await call(server, 0)];
    assert.deepEqual(
      more.map((charge) => typeof charge),
      ['object', 'number'],
      'the slow call and the third are paid for',
    );
  });
});

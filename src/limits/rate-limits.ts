/**
 * Rate limits. Requests with a valid credential are counted by account (all its API keys and OAuth clients together) or
 * by customer, per hour and per second. client-ip-limits.ts counts all others. A refused request is not counted.
 */
import type { Principal } from '../access/principal.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { chain, type MaybePromise } from '../maybe-promise.ts';
import type { Config, PlanLimits } from '../settings/config.ts';
import type { ClientIpCounter } from './client-ip-counter.ts';
import { createClientIpLimits } from './client-ip-limits.ts';
import { createDryRunLimits } from './dry-run-limits.ts';
import { createPublishableLimits } from './publishable-limits.ts';
import {
  burstState,
  type CountedUse,
  hourState,
  type RateLimitStatus,
  type RequestCharge,
  type UsageCounter,
} from './usage-counter.ts';

interface Plan extends PlanLimits {
  readonly name: string;
}

export type RateLimits = ReturnType<typeof createRateLimits>;

interface Dependencies {
  readonly config: Pick<Config, 'plans' | 'addressLimits' | 'publishableLimits'>;
  readonly clock: Clock;
  readonly counts: UsageCounter;
  readonly sharedLogins?: ClientIpCounter | undefined;
}

/** @param counts is closed by the caller */
export function createRateLimits({ config, clock, counts, sharedLogins }: Dependencies) {
  const plans = new Map(Object.entries(config.plans).map(([name, limits]) => [name, { ...limits, name }]));
  const strictest = [...plans.values()].toSorted(
    (a, b) => (a.perHour ?? Infinity) - (b.perHour ?? Infinity),
  )[0];
  /** A plan that was removed from the settings gets the lowest limits. */
  const planOf = (name: string): Plan => plans.get(name) ?? (strictest as Plan);
  const refused = { burst: 0, hour: 0, address: 0, 'dry-run': 0, publishable: 0 };
  const countClientIp = createClientIpLimits({
    limits: config.addressLimits,
    clock,
    sharedLogins,
    onRefusal: () => {
      refused.address += 1;
    },
  });

  const chargePublishable = createPublishableLimits(config.publishableLimits, clock, () => {
    refused.publishable += 1;
  });

  const limitDryRun = createDryRunLimits(clock, () => {
    refused['dry-run'] += 1;
  });

  function chargePlan(subject: string, plan: Plan): MaybePromise<RequestCharge> {
    return chain(counts.count(subject, plan), (use) => {
      const charge = new PlanCharge(plan, use, clock);
      if (use.refusedBy !== null) {
        refused[use.refusedBy] += 1;
      }
      if (use.refusedBy === 'burst') {
        const waitMs = Math.max(use.msUntilBurstPermits(), charge.msUntilHourPermits());
        throw planRefusal(
          charge,
          'burst',
          `Too many requests within a second: the plan ${plan.name} permits ${plan.burst}.`,
          waitMs,
        );
      }
      if (use.refusedBy === 'hour') {
        const waitMs = charge.msUntilHourPermits();
        throw planRefusal(
          charge,
          'hour',
          `Too many requests within an hour: the plan ${plan.name} permits ${plan.perHour}.`,
          waitMs,
        );
      }
      return charge;
    });
  }

  function planRefusal(
    charge: RequestCharge,
    refusedBy: 'burst' | 'hour',
    reason: string,
    waitMs: number,
  ): AppError {
    const { hour, burst, readAt } = charge.rateLimitStatus();
    return new AppError('rateLimited', `${reason} Wait as long as Retry-After says.`, {
      details: { retryAfterMs: waitMs, limits: hour === null ? [burst] : [hour, burst], readAt, refusedBy },
    });
  }

  return {
    /** What remains for an account, without counting. */
    async read(accountId: number, planName: string) {
      const plan = planOf(planName);
      const use = await counts.read(`account:${accountId}`, plan);
      return { plan: plan.name, hour: use.hour(), burst: use.burst(), readAt: clock.now() };
    },

    /** The whole quota of a plan. */
    unused(planName: string) {
      const { name, perHour, burst } = planOf(planName);
      const hour = perHour === null ? null : hourState(perHour, perHour, 0);
      return { plan: name, hour, burst: burstState(burst, burst), readAt: clock.now() };
    },

    /** Counts a request for the plan of the counted principal. @throws AppError rateLimited */
    charge: (counted: Principal) => chargePlan(subjectOf(counted), planOf(counted.plan)),

    /** Counts a request for a publishable key and client IP. @throws AppError rateLimited */
    chargePublishable: ({ id }: Principal, clientIp: string) =>
      chargePublishable(publishableSubject(id, clientIp)),

    /** @param clientIp of a request without a valid credential @throws AppError rateLimited if an earlier one still counts */
    limitDryRun(principals: readonly Principal[], clientIp: string, operationId: string) {
      const counted = countedPrincipal(principals);
      const subject =
        counted === undefined
          ? clientIp
          : counted.kind === 'publishable'
            ? publishableSubject(counted.id, clientIp)
            : subjectOf(counted);
      return limitDryRun(subject, operationId);
    },

    /** Requests refused since the start, by limit, as labels of a metric. */
    refusals: () =>
      Object.fromEntries(Object.entries(refused).map(([limit, calls]) => [`{limit="${limit}"}`, calls])),

    countClientIp,
  };
}

/**
 * A key that acts for a customer is counted for its account. A publishable key spends no quota of its account, because
 * anybody can copy it; nor does it spare the quota of an application whose token accompanies it.
 */
export function countedPrincipal(principals: readonly Principal[]): Principal | undefined {
  return (
    principals.find(({ accountId, kind }) => accountId !== null && kind !== 'publishable') ??
    principals.find(({ accountId }) => accountId !== null) ??
    principals[0]
  );
}

const publishableSubject = (id: string, clientIp: string) => `${id} ${clientIp}`;

function subjectOf({ accountId, customerId }: Principal): string {
  return accountId === null ? `customer:${customerId}` : `account:${accountId}`;
}

class PlanCharge implements RequestCharge {
  readonly #plan: Plan;
  readonly #use: CountedUse;
  readonly #clock: Clock;

  constructor(plan: Plan, use: CountedUse, clock: Clock) {
    this.#plan = plan;
    this.#use = use;
    this.#clock = clock;
  }

  rateLimitStatus(): RateLimitStatus {
    return {
      plan: this.#plan.name,
      hour: this.#use.hour(),
      burst: this.#use.burst(),
      readAt: this.#clock.now(),
    };
  }

  /** Milliseconds until the hourly quota permits a request; 0 if it does now. */
  msUntilHourPermits(): number {
    const hour = this.#use.hour();
    return hour === null || hour.remaining > 0 ? 0 : hour.resetMs;
  }

  refund(): void {
    this.#use.refund();
  }
}

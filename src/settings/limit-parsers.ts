/** Parsers of settings that limit requests. */
import type { ResetLimits } from './mail.ts';
import { ConfigError, type MapParser, parseJsonObject, parseNumberMap } from './parsers.ts';

/** Requests an hour, null for no quota, and requests a second. */
export interface PlanLimits {
  readonly perHour: number | null;
  readonly burst: number;
}

/** Requests of a publishable key from one client IP, a minute and a second. */
export interface PublishableLimits {
  readonly perMinute: number;
  readonly burst: number;
}

/**
 * Requests a minute from one client IP without a valid credential: all of them, logins and registrations, and requests
 * to public paths such as pages and images.
 */
export interface ClientIpLimits {
  readonly perMinute: number;
  readonly accountsPerMinute: number;
  readonly publicPerMinute: number;
}

/** Failed logins that are allowed: for a username from one client IP, from one client IP, for a username. */
export interface LoginLimits {
  readonly pair: number;
  readonly address: number;
  readonly username: number;
}

/** The most requests a second: limits/sliding-window.ts counts them in two bytes. */
const burstMax = 60_000;

const quotaMax = 1_000_000_000;

function isCount(value: unknown, max: number): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max;
}

/** Plans by name. The text may change plans of the default and add others. */
export const parsePlans: MapParser<Readonly<Record<string, PlanLimits>>> = (text, name, { defaultText }) => {
  const plans: Record<string, PlanLimits> = JSON.parse(defaultText);
  for (const [plan, limits] of Object.entries(parseJsonObject(text, name))) {
    const { perHour, burst, ...rest } = { ...plans[plan], ...(limits as Partial<PlanLimits>) };
    const isObject = typeof limits === 'object' && limits !== null && !Array.isArray(limits);
    const isName = /^[a-z][a-z\d_-]{0,49}$/.test(plan);
    const isQuota = perHour === null || isCount(perHour, quotaMax);
    const hasOthers = Object.keys(rest).length > 0;
    if (!isObject || !isName || !isQuota || !isCount(burst, burstMax) || hasOthers) {
      throw new ConfigError(
        `${name} is wrong at "${plan}": set each plan to {"perHour": 1 to ${quotaMax} or null, "burst": 1 to ${burstMax}}, with whole numbers. Its name is a lowercase letter and up to 49 of a-z, 0-9, - and _.`,
      );
    }
    plans[plan] = { perHour, burst };
  }
  return plans;
};

export const parseClientIpLimits: MapParser<ClientIpLimits> = parseCounts;

export const parseResetLimits: MapParser<ResetLimits> = parseCounts;

export const parsePublishableLimits: MapParser<PublishableLimits> = parseCounts;

export const parseLoginLimits: MapParser<LoginLimits> = parseCounts;

function parseCounts<T extends object>(
  text: string,
  name: string,
  { defaultText }: { readonly defaultText: string },
): T {
  return parseNumberMap<T>(text, name, defaultText, { min: 1, max: burstMax, isWhole: true });
}

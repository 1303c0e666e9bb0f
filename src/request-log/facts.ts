/** The facts of a request as the API and the log line of a failure show them. */
import type { Access } from '../access/access.ts';
import { timestamp } from '../clock.ts';
import type { LimitState } from '../errors.ts';
import { toQuota, toWindow } from '../limits/schemas.ts';
import type { RawFacts } from './raw-facts.ts';

export type RequestFacts = ReturnType<typeof formatFacts>;

export function formatFacts(raw: RawFacts) {
  const { refusal, ignoredMembers } = raw;
  return {
    id: raw.id,
    at: timestamp(raw.at),
    instance: raw.instance,
    method: raw.method,
    route: formatRoute(raw.url),
    tool: raw.tool,
    ids: raw.ids,
    status: raw.status,
    milliseconds: rounded(raw.milliseconds),
    parts: formatParts(raw),
    credential: formatCredential(raw),
    limits: formatLimits(raw),
    access: formatAccess(raw),
    errors: refusal?.errors ?? [],
    ...(refusal !== null && refusal.unlisted > 0 ? { moreErrors: refusal.unlisted } : {}),
    ...(ignoredMembers > 0 ? { ignoredMembers } : {}),
    error: refusal === null ? null : { type: refusal.type, message: refusal.message },
    idempotency: { used: raw.hasKey, replayed: raw.isReplayed },
    dryRun: raw.dryRun,
    simulated: raw.simulated,
    traceId: raw.traceId,
  };
}

/** The path with parameters as in openapi.json; null if there is no such path. */
export function formatRoute(url: string | null): string | null {
  return url === null ? null : url.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{path}');
}

/** Hundredths of a millisecond, rounded down, so that the parts never exceed the whole. */
function rounded(milliseconds: number): number {
  return Math.floor(milliseconds * 100) / 100;
}

/** A part that the request did not reach is 0; the last one that it reached ends with the request. */
function formatParts({ ends, milliseconds }: Pick<RawFacts, 'ends' | 'milliseconds'>) {
  let before = 0;
  let isOver = false;
  const [credential = 0, limits = 0, body = 0, handler = 0] = [...ends, milliseconds].map((end, index) => {
    if (isOver) {
      return 0;
    }
    isOver = end <= 0 && index < ends.length;
    const until = isOver ? milliseconds : end;
    const part = rounded(Math.max(0, until - before));
    before = until;
    return part;
  });
  return { credential, limits, body, handler };
}

function formatCredential({ actor, customer }: Pick<RawFacts, 'actor' | 'customer'>) {
  if (actor === undefined) {
    return null;
  }
  return {
    kind: actor.kind,
    id: actor.id,
    account: actor.accountId === null ? null : `account:${actor.accountId}`,
    scopes: actor.scopes,
    actsFor: customer === null ? null : `customer:${customer}`,
  };
}

function formatLimits({ left, plan, refusal }: Pick<RawFacts, 'left' | 'plan' | 'refusal'>) {
  const { limits = [], refusedBy = null } = refusal ?? {};
  if (left !== null) {
    return { ...toQuota(left), refusedBy };
  }
  const stateOf = (policy: LimitState['policy']) => limits.find((limit) => limit.policy === policy);
  const [hour, minute, burst] = [stateOf('hour'), stateOf('minute'), stateOf('burst')];
  return {
    plan,
    hour: hour === undefined ? null : toWindow(hour),
    ...(minute === undefined ? {} : { minute: toWindow(minute) }),
    burst: burst === undefined ? null : { limit: burst.limit, remaining: burst.remaining },
    refusedBy,
  };
}

function formatAccess({
  access,
  refusal,
  hasPrincipal,
}: Pick<RawFacts, 'access' | 'refusal' | 'hasPrincipal'>) {
  const requires = access === null ? [] : requirementsOf(access);
  const scopes = refusal?.scopes ?? null;
  const missing = refusal?.isCredentialMissing
    ? requires
    : scopes === null
      ? []
      : scopes.length > 0
        ? [...scopes]
        : requires.filter((requirement) => requirement === 'session' && !hasPrincipal);
  return { requires, missing };
}

/** Any of them is enough. */
function requirementsOf(access: Access): readonly string[] {
  if (typeof access === 'string') {
    return access === 'any credential' ? ['anyCredential'] : [];
  }
  return access.map((credential) => (credential.kind === 'oauth' ? credential.scope : credential.kind));
}

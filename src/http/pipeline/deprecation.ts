/** Deprecated routes: the headers of their responses, and a log line for each principal that still uses one. */
import { timestamp } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Route } from '../route.ts';

const dayMs = 24 * 60 * 60 * 1000;
const rememberedMax = 10_000;
const listedMax = 100;

type Deprecation = NonNullable<Route['deprecated']>;

/** Deprecation (RFC 9745) and a link to the successor (RFC 8288). There is no Sunset (RFC 8594) until a date is decided. */
export function deprecationHeaders({ since, successor }: Deprecation): Record<string, string> {
  return {
    Deprecation: `@${Date.parse(since) / 1000}`,
    Link: `</docs>; rel="deprecation", </v2${successor}>; rel="successor-version"`,
  };
}

/** The last use of a deprecated route by a principal. */
export interface DeprecatedUse {
  readonly operationId: string;
  readonly principal: string;
  readonly lastAt: string;
}

export type DeprecationReport = ReturnType<typeof createDeprecationReport>;

export function createDeprecationReport(log: Log, now: () => number) {
  const uses = new Map<
    string,
    { readonly operationId: string; readonly principal: string; loggedAt: number; lastAt: number }
  >();
  return {
    /** Logs the use of a deprecated route at most once a day for each principal. */
    report(operationId: string, principal: string) {
      const key = `${operationId} ${principal}`;
      const use = uses.get(key);
      if (use !== undefined && now() - use.loggedAt < dayMs) {
        use.lastAt = now();
        return;
      }
      if (uses.size >= rememberedMax) {
        uses.clear();
      }
      uses.set(key, { operationId, principal, loggedAt: now(), lastAt: now() });
      log.info({ operationId, principal }, 'a deprecated route is in use');
    },
    /** The newest uses first. */
    list: () =>
      [...uses.values()]
        .sort((a, b) => b.lastAt - a.lastAt)
        .slice(0, listedMax)
        .map(({ operationId, principal, lastAt }) => ({ operationId, principal, lastAt: timestamp(lastAt) })),
  };
}

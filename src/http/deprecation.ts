/** Deprecated routes: the headers of their responses, and a log line for each principal that still uses one. */
import type { Log } from '../log.ts';
import type { Route } from './route.ts';

const dayMs = 24 * 60 * 60 * 1000;
const rememberedMax = 10_000;

type Deprecation = NonNullable<Route['deprecated']>;

/** Deprecation (RFC 9745) and a link to the successor (RFC 8288). There is no Sunset (RFC 8594) until a date is decided. */
export function deprecationHeaders({ since, successor }: Deprecation): Record<string, string> {
  return {
    Deprecation: `@${Date.parse(since) / 1000}`,
    Link: `</docs>; rel="deprecation", </v2${successor}>; rel="successor-version"`,
  };
}

/** Logs the use of a deprecated route at most once a day for each principal. */
export function createDeprecationReport(
  log: Log,
  now: () => number,
): (operationId: string, principal: string) => void {
  const reported = new Map<string, number>();
  return (operationId, principal) => {
    const key = `${operationId} ${principal}`;
    if (now() - (reported.get(key) ?? Number.NEGATIVE_INFINITY) < dayMs) {
      return;
    }
    if (reported.size >= rememberedMax) {
      reported.clear();
    }
    reported.set(key, now());
    log.info({ operationId, principal }, 'a deprecated route is in use');
  };
}

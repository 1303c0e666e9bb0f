/** Opens what the server needs beside the areas: rate limits, load shedding, uploads and metrics of requests. */
import { createClientIpCounter } from '../limits/client-ip-counter.ts';
import { createLocalCounter } from '../limits/local-counter.ts';
import { createOverloadGuard } from '../limits/overload.ts';
import { createPostgresCounter } from '../limits/postgres-counter.ts';
import { createRateLimits } from '../limits/rate-limits.ts';
import type { Area, AreaDependencies } from './area.ts';
import { createUploads } from './bodies/uploads.ts';
import { counter, createMetrics, gauge } from './metrics/metrics.ts';
import { createRecentFailures } from './metrics/recent-failures.ts';
import { createDeprecationReport } from './pipeline/deprecation.ts';

export function openHttp({ config, clock, log, database }: AreaDependencies) {
  // A SQLite database has one server. All servers on a PostgreSQL count together.
  const counts = (database.hasOneServer ? createLocalCounter : createPostgresCounter)(database, clock);
  const sharedLogins = database.hasOneServer
    ? undefined
    : createClientIpCounter(database, clock, config.secret);
  const rateLimits = createRateLimits({ config, clock, counts, sharedLogins });
  const overload = createOverloadGuard();
  const uploads = createUploads(config.incomingDir, clock);
  const failures = createRecentFailures(clock);
  const deprecations = createDeprecationReport(log, clock.now);
  return {
    provides: { rateLimits, countClientIp: rateLimits.countClientIp, failures, deprecations },
    rateLimits,
    overload,
    uploads,
    metrics: createMetrics(),
    failures,
    deprecations,
    tasks: [counts.purge, uploads.purge],
    gauges: [
      counter('curd_calls_refused_total', 'Requests that a rate limit refused.', rateLimits.refusals),
      gauge(
        'curd_changes_under_way',
        'Requests that change data and have no response yet.',
        () => overload.stats().changes,
      ),
      gauge(
        'curd_event_loop_lag_seconds',
        'The last measured lag of the event loop.',
        () => overload.stats().lagMs / 1000,
      ),
      gauge(
        'curd_uploads_under_way',
        'Uploads that are being received, wait or are processed.',
        uploads.count,
      ),
    ],
    stop: async () => overload.stop(),
    close: counts.close,
  } satisfies Area;
}

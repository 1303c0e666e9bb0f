/** Opens what caches in front of the shop need. */
import type { CheeseService } from '../cheeses/service.ts';
import { readTime } from '../event-log/reading/log-reader.ts';
import { parseEventId } from '../event-log/reading/positions.ts';
import type { EventService } from '../event-log/reading/service.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { byLabel, gauge } from '../http/metrics/metrics.ts';
import type { Log } from '../log.ts';
import type { PurgeTarget } from './purge-request.ts';
import { runPurger } from './purger.ts';
import { type PurgerRow, purgerQueries } from './queries.ts';

interface Dependencies extends AreaDependencies {
  readonly events: EventService;
  readonly cheeses: CheeseService;
}

/** A cache that is purged, and for how long a change waits for its purge. */
export interface PurgedCache {
  readonly url: string;
  readonly lagSeconds: number;
  readonly updatedAt: string;
}

export function openEdge(dependencies: Dependencies) {
  const { database, clock } = dependencies;

  /** The age of the first event that is not purged. */
  async function lagSeconds({ position }: PurgerRow): Promise<number> {
    const next = (parseEventId(position)?.sequence ?? 0) + 1;
    const time = await readTime(database, next);
    return time === undefined ? 0 : Math.max(0, (clock.now() - Date.parse(time)) / 1000);
  }

  async function list(): Promise<PurgedCache[]> {
    const rows = await purgerQueries(database).list();
    return Promise.all(
      rows.map(async (row) => ({
        url: row.purge_url,
        lagSeconds: await lagSeconds(row),
        updatedAt: row.updated_at,
      })),
    );
  }

  return {
    list,
    /** Purges a cache until `signal` aborts. */
    run: (target: PurgeTarget, log: Log, signal: AbortSignal) =>
      runPurger({ ...dependencies, log }, target, signal),
    /** @returns whether the cache was purged until now */
    delete: (url: string) => database.transaction(async (tx) => (await purgerQueries(tx).delete(url)) > 0),
    gauges: [
      gauge(
        'curd_edge_purge_lag_seconds',
        'Age of the first event that is not purged from a cache. Up to 10 is normal.',
        async () =>
          byLabel(
            'cache',
            Object.fromEntries((await list()).map(({ url, lagSeconds }) => [url, lagSeconds])),
          ),
      ),
    ],
  } satisfies Area;
}

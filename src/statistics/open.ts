/** Opens the statistics. */
import type { CheeseService } from '../cheeses/service.ts';
import { createFollowing } from '../event-log/reading/event-follower.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { checkStatistics } from './consistency-check.ts';
import { statisticsFollower } from './counting.ts';
import { statisticsRoutes } from './routes.ts';
import { createSalesReader } from './sales.ts';
import { salesRoutes } from './sales-routes.ts';
import { createStatisticsService } from './service.ts';

interface Dependencies extends AreaDependencies {
  readonly cheeses: Pick<CheeseService, 'listCategories'>;
}

export function openStatistics({ database, clock, log, loops, cheeses }: Dependencies) {
  const service = createStatisticsService(database, clock);
  const counter = createFollowing({ database, log, loops }, statisticsFollower);
  return {
    provides: { statistics: service },
    service,
    counter,
    routes: [...statisticsRoutes(service), ...salesRoutes(createSalesReader(database, clock, cheeses))],
    checks: [{ name: 'statistics', run: checkStatistics }],
    start: () => counter.start(),
    stop: () => counter.stop(),
  } satisfies Area;
}

/** Opens the statistics. */
import type { Area, AreaDependencies } from '../http/area.ts';
import { checkStatistics } from './consistency-check.ts';
import { createStatisticsCounter } from './counter.ts';
import { statisticsRoutes } from './routes.ts';
import { createStatisticsService } from './service.ts';

export function openStatistics({ database, clock, log }: AreaDependencies) {
  const service = createStatisticsService(database, clock);
  const counter = createStatisticsCounter(database, log);
  return {
    service,
    counter,
    routes: statisticsRoutes(service),
    checks: [{ name: 'statistics', run: checkStatistics }],
    start: () => counter.start(),
    stop: () => counter.stop(),
  } satisfies Area;
}

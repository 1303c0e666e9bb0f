/** Opens the stock. */

import { cheeseDeleted, cheesePortionsChanged, cheeseStatusChanged } from '../cheeses/hook-points.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { createCursors } from '../cursor.ts';
import { hookOn } from '../hooks/hooks.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { createAvailabilityReader } from './availability.ts';
import { availabilityRoutes } from './availability-routes.ts';
import { checkStock } from './consistency-check.ts';
import { createStockReader } from './reader.ts';
import { stockRoutes } from './routes.ts';
import { createStockService, type OpenOrders } from './service.ts';
import { createStatusHandler } from './status-job.ts';

interface Dependencies extends AreaDependencies {
  readonly cheeses: CheeseService;
  readonly openOrders: OpenOrders;
}

export function openStock(dependencies: Dependencies) {
  const { database, config, cheeses, contextOf } = dependencies;
  const service = createStockService(dependencies);
  const reader = createStockReader(database, cheeses, createCursors(config.secret, 'stock levels'));
  const availability = createAvailabilityReader(database, cheeses, config.requirePrice);
  return {
    provides: { stock: service },
    service,
    reader,
    routes: [...stockRoutes(service, reader), ...availabilityRoutes(availability)],
    jobs: [createStatusHandler(cheeses, contextOf('system'))],
    hooks: [
      hookOn(cheeseDeleted, 'stock', service.onCheeseDelete),
      hookOn(cheesePortionsChanged, 'stock', service.onPortionsChange),
      hookOn(cheeseStatusChanged, 'stock', service.onStatusChange),
    ],
    checks: [{ name: 'stock', run: checkStock }],
  } satisfies Area;
}

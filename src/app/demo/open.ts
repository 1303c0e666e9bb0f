/** Opens what removes the demo from a shop that is in use. */
import type { CheeseService } from '../../cheeses/service.ts';
import type { Context } from '../../database/context.ts';
import type { Area, AreaDependencies } from '../../http/area.ts';
import type { ImageService } from '../../images/service.ts';
import type { OrderReader } from '../../orders/lists/order-reader.ts';
import type { StatisticsService } from '../../statistics/service.ts';
import { createDemoFill, type RemovedDemo, removeDemoCheeses } from './demo.ts';
import { demoRoutes } from './routes.ts';

interface Dependencies extends AreaDependencies {
  readonly cheeses: CheeseService;
  readonly images: ImageService;
  readonly orderReader: Pick<OrderReader, 'listInOpenOrders'>;
  readonly statistics: Pick<StatisticsService, 'listOrdered'>;
}

export function openDemo(dependencies: Dependencies) {
  const { cheeses, orderReader, statistics } = dependencies;
  /** Deletes the demo cheeses that were not changed and never ordered. */
  const remove = (context: Context): Promise<RemovedDemo> =>
    context.transaction((tx) =>
      removeDemoCheeses(cheeses, tx, context, async (ids) => {
        // Statistics are some seconds late, and orders of these seconds are open.
        const [open, counted] = await Promise.all([
          orderReader.listInOpenOrders(tx, ids),
          statistics.listOrdered(tx, ids),
        ]);
        return new Set([...open, ...counted]);
      }),
    );
  return {
    provides: { demoFill: createDemoFill(dependencies) },
    remove,
    routes: demoRoutes(remove),
  } satisfies Area;
}

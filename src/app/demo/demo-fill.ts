/** Fills an empty shop as a first start does. */
import type { CheeseService } from '../../cheeses/service.ts';
import type { Database } from '../../database/database.ts';
import type { ImageService } from '../../images/service.ts';
import { restoreTestOrders } from '../../orders/test-orders.ts';
import type { DemoFill } from '../../sandbox/snapshots/reset.ts';
import { fillDemoCatalogue, seedDemoImages } from './demo.ts';

interface Dependencies {
  readonly database: Database;
  readonly cheeses: CheeseService;
  readonly images: ImageService;
  readonly fileUrl: (name: string) => string;
}

export function createDemoFill({ database, cheeses, images, fileUrl }: Dependencies): DemoFill {
  return {
    catalogue: (context) => fillDemoCatalogue(cheeses, context),
    async imagesAndOrders(context) {
      await seedDemoImages({ images, database }, context, fileUrl);
      await restoreTestOrders(context);
    },
  };
}

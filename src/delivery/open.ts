/** Opens delivery. */
import type { Area, AreaDependencies } from '../http/area.ts';
import { deliveryMethodRoutes } from './routes.ts';
import { createDeliveryService } from './service.ts';

export function openDelivery(dependencies: AreaDependencies) {
  const service = createDeliveryService(dependencies);
  return { provides: { delivery: service }, routes: deliveryMethodRoutes(service) } satisfies Area;
}

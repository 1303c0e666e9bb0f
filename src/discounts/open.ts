/** Opens discounts. */
import { createCursors } from '../cursor.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { discountRoutes } from './routes.ts';
import { createDiscountService } from './service.ts';

export function openDiscounts(dependencies: AreaDependencies) {
  const cursors = createCursors(dependencies.config.secret, 'discounts');
  const service = createDiscountService({ ...dependencies, cursors });
  return { provides: { discounts: service }, routes: discountRoutes(service) } satisfies Area;
}

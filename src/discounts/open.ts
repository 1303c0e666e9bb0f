/** Opens discounts. */
import { createCursors } from '../cursor.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { discountRoutes } from './routes.ts';
import { createDiscountService } from './service.ts';
import { createWrongCodes } from './wrong-codes.ts';

export function openDiscounts(dependencies: AreaDependencies) {
  const cursors = createCursors(dependencies.config.secret, 'discounts');
  const service = createDiscountService({ ...dependencies, cursors });
  return {
    provides: { discounts: service, wrongCodes: createWrongCodes(dependencies.clock) },
    routes: discountRoutes(service),
  } satisfies Area;
}

/** Opens taxes. */
import { createCursors } from '../cursor.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { taxRoutes } from './routes.ts';
import { createTaxService } from './service.ts';

export function openTax(dependencies: AreaDependencies) {
  const cursors = createCursors(dependencies.config.secret, 'tax rates');
  const service = createTaxService({ ...dependencies, cursors });
  return { provides: { taxes: service }, routes: taxRoutes(service) } satisfies Area;
}

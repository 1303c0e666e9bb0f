/** Opens the import of catalogues. */
import type { CheeseService } from '../cheeses/service.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import type { StockService } from '../stock/service.ts';
import { importRoutes } from './routes.ts';

interface Dependencies extends AreaDependencies {
  readonly cheeses: CheeseService;
  readonly stock: StockService;
}

export function openCatalogueImport(dependencies: Dependencies) {
  return { routes: importRoutes(dependencies) } satisfies Area;
}

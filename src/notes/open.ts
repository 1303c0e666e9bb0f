/** Opens the notes. */
import { createCursors } from '../cursor.ts';
import type { CustomerFinder } from '../customers/customer-finder.ts';
import { customerDeleted } from '../customers/hook-points.ts';
import type { CustomerService } from '../customers/service.ts';
import { hookOn } from '../hooks/hooks.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import type { OrderReader } from '../orders/lists/order-reader.ts';
import { noteRoutes } from './routes.ts';
import { createNoteService } from './service.ts';

interface Dependencies extends AreaDependencies {
  readonly customers: CustomerService;
  readonly customerFinder: CustomerFinder;
  readonly orderReader: OrderReader;
}

export function openNotes(dependencies: Dependencies) {
  const cursors = createCursors(dependencies.config.secret, 'notes');
  const service = createNoteService({ ...dependencies, cursors });
  return {
    service,
    routes: noteRoutes(service),
    hooks: [hookOn(customerDeleted, 'staff_note', service.onCustomerDelete)],
  } satisfies Area;
}

/** Opens the stored responses of requests with an idempotency key. */
import type { Area, AreaDependencies } from '../http/area.ts';
import { createIdempotencyStore } from '../stored-responses/store.ts';
import { outcomeRoute } from './routes.ts';

export function openIdempotency({ database, clock, config }: AreaDependencies) {
  const store = createIdempotencyStore(database, clock, config.secret);
  return { store, routes: [outcomeRoute(store)], tasks: [store.purge] } satisfies Area;
}

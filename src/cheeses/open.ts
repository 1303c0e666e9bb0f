/** Opens the catalogue. */
import { createCursors } from '../cursor.ts';
import type { EventService } from '../event-log/reading/service.ts';
import type { LiveConnections } from '../events/live-connections.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { createBulkChanges } from './bulk/bulk-changes.ts';
import { createCatalogueChanges } from './changes/catalogue-changes.ts';
import { catalogueChangeRoutes } from './changes/routes.ts';
import { checkCatalogue } from './consistency-check.ts';
import { CheeseLists } from './listing/cheese-lists.ts';
import { NameLists } from './listing/name-lists.ts';
import { navigationRoutes } from './listing/navigation-routes.ts';
import { listingRoutes } from './listing/routes.ts';
import { checkPrices } from './prices/consistency-check.ts';
import { createPriceReader } from './prices/price-list.ts';
import { cheeseRoutes } from './routes.ts';
import { CurrentIndex } from './search-index/current-index.ts';
import { createCheeseService } from './service.ts';
import { createWrites } from './writes.ts';

interface Dependencies extends AreaDependencies {
  readonly events: EventService;
  readonly connections: LiveConnections;
}

export function openCheeses(dependencies: Dependencies) {
  const { database, clock, log, loops, config, events, connections } = dependencies;
  const { secret } = config;
  const writes = createWrites({ ...dependencies, cheesesMax: config.catalogueMax });
  const service = createCheeseService(database, writes, config.catalogueMax);
  const index = new CurrentIndex(database, loops);
  const lists = new CheeseLists(index, createCursors(secret, 'cheeses'));
  const nameLists = new NameLists(index, {
    category: createCursors(secret, 'categories'),
    tag: createCursors(secret, 'tags'),
  });
  const changes = createCatalogueChanges({
    database,
    clock,
    cursors: createCursors(secret, 'cheese changes', { name: 'since', field: 'next' }),
    events,
    retentionMs: config.tombstoneRetentionMs,
  });
  const prices = createPriceReader(database, clock, service, createCursors(secret, 'cheese prices'));

  /** Requests for lists wait for it. If it fails, the next one and the next readiness check try again. */
  async function loadIndex(): Promise<void> {
    const startedAt = performance.now();
    try {
      await index.load();
      const ms = Math.round(performance.now() - startedAt);
      log.info({ cheeses: index.size, ms }, 'the catalogue is loaded');
    } catch (error) {
      log.error({ err: error }, 'the catalogue could not be loaded; it is tried again');
    }
  }

  return {
    provides: { cheeses: service, cheeseLists: lists, catalogueIndex: index },
    service,
    index,
    lists,
    changes,
    routes: [
      ...listingRoutes(lists),
      ...navigationRoutes(nameLists),
      ...catalogueChangeRoutes(changes, connections),
      ...cheeseRoutes(service, prices, createBulkChanges(database, writes)),
    ],
    tasks: [changes.purge],
    checks: [
      { name: 'catalogue', run: checkCatalogue },
      { name: 'prices', run: checkPrices },
    ],
    start() {
      void loadIndex();
      index.start();
    },
    close: () => index.close(),
  } satisfies Area;
}

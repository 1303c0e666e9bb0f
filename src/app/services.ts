/** Creates all services in the order of their dependencies. The command line uses them without HTTP. */
import { createKeyService, type KeyService } from '../auth/keys/service.ts';
import { type ClientService, createClientService } from '../auth/oauth/clients.ts';
import { type ConsoleClient, createConsoleClient } from '../auth/oauth/console-client.ts';
import { type ConsoleLinks, createConsoleLinks } from '../auth/oauth/console-links.ts';
import { createGrants, type OAuthGrants } from '../auth/oauth/grants.ts';
import { createScopeApprovals, type ScopeApprovals } from '../auth/oauth/scope-approvals.ts';
import { createPasswords, type Passwords } from '../auth/passwords.ts';
import { createSessions, type Sessions } from '../auth/sessions/service.ts';
import { type CatalogueChanges, createCatalogueChanges } from '../cheeses/changes/catalogue-changes.ts';
import { CheeseLists } from '../cheeses/listing/cheese-lists.ts';
import { NameLists } from '../cheeses/listing/name-lists.ts';
import { CurrentIndex } from '../cheeses/search-index/current-index.ts';
import { type CheeseService, createCheeseService } from '../cheeses/service.ts';
import { type Clock, systemClock } from '../clock.ts';
import { createCursors } from '../cursor.ts';
import { type CustomerAdministration, createCustomerAdministration } from '../customers/administration.ts';
import { type CustomerFinder, createCustomerFinder } from '../customers/customer-finder.ts';
import { createLogin, type LoginService } from '../customers/login/login.ts';
import { createLoginThrottle, type LoginThrottle } from '../customers/login/login-throttle.ts';
import { createKnownNetworks, type KnownNetworks } from '../customers/login/networks.ts';
import { createNewPasswords } from '../customers/login/new-passwords.ts';
import { type CustomerSearch, createCustomerSearch } from '../customers/search/search.ts';
import { type CustomerService, createCustomerService } from '../customers/service.ts';
import type { Context } from '../database/context.ts';
import type { Database } from '../database/database.ts';
import { requireEnvironment } from '../database/environment.ts';
import { findNewerSchema, migrate, type SchemaVersions } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { AppError } from '../errors.ts';
import { beginFirstEpoch } from '../event-log/numbering.ts';
import { createEventHub, type EventHub } from '../event-log/reading/hub.ts';
import { createEventService, type EventService } from '../event-log/reading/service.ts';
import { openFiles } from '../files/open.ts';
import { createImageRenderer, type ImageRenderer } from '../images/renderer.ts';
import { createImageService, type ImageService } from '../images/service.ts';
import { createOrderReader, type OrderReader } from '../orders/lists/order-reader.ts';
import { firstIdIn } from '../orders/order.ts';
import { createOrderService, type OrderService } from '../orders/service.ts';
import { createOrderOnDelete } from '../orders/transitions/on-delete.ts';
import { openOrders } from '../orders/transitions/open-orders.ts';
import { createOrderApprovals, type OrderApprovals } from '../orders/transitions/order-approvals.ts';
import { createTransitions } from '../orders/transitions/transitions.ts';
import type { Config } from '../settings/config.ts';
import { createStatisticsService, type StatisticsService } from '../statistics/service.ts';
import { createStockReader, type StockReader } from '../stock/reader.ts';
import { createStockReservations } from '../stock/reservations.ts';
import { createStockService, type StockService } from '../stock/service.ts';
import { createDeliveryLog, type DeliveryLog } from '../webhooks/delivery/deliveries.ts';
import { createReplayService, type ReplayService } from '../webhooks/delivery/replays.ts';
import { createEndpointSecrets } from '../webhooks/secrets.ts';
import { createEndpointService, type EndpointService } from '../webhooks/service.ts';
import { createTestPing, type TestPing } from '../webhooks/test-ping.ts';

/** Pools of child processes. */
export interface ChildPools {
  readonly passwords: Passwords;
  readonly imageRenderer: ImageRenderer;
}

/** Starts no process yet. @param childrenMax of each pool; by default as many as one server needs */
export function createChildPools(clock: Clock, childrenMax?: number): ChildPools {
  return {
    passwords: createPasswords(clock, childrenMax),
    imageRenderer: createImageRenderer(clock, childrenMax),
  };
}

export interface Services extends ChildPools {
  readonly config: Config;
  readonly clock: Clock;
  readonly database: Database;
  /** Not null where a newer version has migrated the database. */
  readonly newerSchema: SchemaVersions | null;
  readonly keys: KeyService;
  readonly sessions: Sessions;
  readonly clients: ClientService;
  readonly approvals: ScopeApprovals;
  readonly consoleClient: ConsoleClient;
  readonly consoleLinks: ConsoleLinks;
  readonly grants: OAuthGrants;
  readonly cheeses: CheeseService;
  readonly catalogueIndex: CurrentIndex;
  readonly cheeseLists: CheeseLists;
  readonly nameLists: NameLists;
  readonly catalogueChanges: CatalogueChanges;
  readonly images: ImageService;
  readonly customers: CustomerService;
  readonly loginThrottle: LoginThrottle;
  readonly networks: KnownNetworks;
  readonly login: LoginService;
  readonly customerFinder: CustomerFinder;
  readonly stock: StockService;
  readonly stockReader: StockReader;
  readonly statistics: StatisticsService;
  readonly customerAdministration: CustomerAdministration;
  readonly customerSearch: CustomerSearch;
  readonly orders: OrderService;
  readonly orderApprovals: OrderApprovals;
  readonly orderReader: OrderReader;
  readonly hub: EventHub;
  readonly events: EventService;
  readonly webhookEndpoints: EndpointService;
  readonly testPing: TestPing;
  readonly deliveries: DeliveryLog;
  readonly replays: ReplayService;
  /** A context for changes that no request makes. @param actor `cli` or `system` */
  contextOf(actor: string): Context;
  /** Ends the child processes that it started, and closes the database. */
  close(): Promise<void>;
}

/**
 * Opens the database, migrates it and creates the services. Close them when done.
 * @param shared child pools that several shops in one process share, closed by the caller
 * @param isChangingEnvironment opens a shop of any environment
 * @throws ConfigError where the shop is of another environment than the settings
 */
export async function openServices(
  config: Config,
  clock: Clock = systemClock,
  shared?: ChildPools,
  isChangingEnvironment = false,
): Promise<Services> {
  const database = await openDatabase(config);
  let newerSchema: SchemaVersions | null;
  try {
    await migrate(database);
    newerSchema = await findNewerSchema(database);
    if (!isChangingEnvironment) {
      await requireEnvironment(database, config.environment);
    }
    await beginFirstEpoch(database, clock);
  } catch (error) {
    await database.close();
    throw error instanceof Error && 'severity' in error
      ? new AppError('unavailable', 'PostgreSQL refused the migration.', { cause: error })
      : error;
  }
  const { environment, accountPlan, secret, tiers } = config;
  const keys = createKeyService({ database, clock, environment, defaultPlan: accountPlan });
  const { passwords, imageRenderer } = shared ?? createChildPools(clock);
  const sessions = createSessions({ database, clock, config });
  const grants = createGrants(database, clock);
  const throttle = createLoginThrottle({ database, clock, limits: config.loginLimits, secret });
  const networks = createKnownNetworks({ database, clock, secret });
  const newPasswords = createNewPasswords(passwords, environment === 'local');
  const firstId = firstIdIn(environment);
  const reservations = createStockReservations(clock);
  const transitions = createTransitions({
    clock,
    stock: reservations,
    shippingTimeMs: config.shippingTimeMs,
    firstId,
  });
  const release = createOrderOnDelete(clock, transitions);
  const cheeses = createCheeseService({
    database,
    clock,
    cheesesMax: config.catalogueMax,
    beforeDelete: async (tx, context, cheese) => {
      // The lock order decides the order of these calls (database/lock-order.ts).
      await customers.onCheeseDelete(tx, context, cheese);
      await release.onCheeseDelete(tx, context, cheese);
      await stock.onCheeseDelete(tx, cheese.id);
      await images.onCheeseDelete(tx, context, cheese.id);
    },
    onStatusChange: (tx, cheeseId) => stock.onStatusChange(tx, cheeseId),
  });
  const stock: StockService = createStockService({ database, clock, cheeses, openOrders });
  const images: ImageService = createImageService({
    database,
    clock,
    cheeses,
    renderer: imageRenderer,
    files: await openFiles(config, clock),
  });
  const customers: CustomerService = createCustomerService({
    database,
    clock,
    cheeses,
    newPasswords,
    sessions,
    grants,
    tiers,
    beforeDelete: release.onCustomerDelete,
  });
  const orderApprovals = createOrderApprovals({ clock, cheeses, stock: reservations, transitions });
  const orders = createOrderService({
    database,
    clock,
    cheeses,
    customers,
    transitions,
    approvals: orderApprovals,
    stock: reservations,
    settings: config,
    firstId,
  });
  const hub = createEventHub(database);
  const events = createEventService(database, hub);
  const webhookDependencies = {
    database,
    clock,
    secrets: createEndpointSecrets(clock, secret),
    targets: config.webhookTargets,
  };
  const approvals = createScopeApprovals(database, clock);
  const contextOf = (actor: string): Context => ({
    transaction: database.transaction,
    origin: { actor, requestId: null, traceId: null, effects: null },
  });
  const consoleClient = createConsoleClient({ database, clock, keys, context: contextOf('system') });
  const catalogueIndex = new CurrentIndex(database);
  const login = createLogin({ database, passwords, sessions, throttle, networks });
  return {
    config,
    clock,
    database,
    newerSchema,
    keys,
    sessions,
    clients: createClientService(database, clock),
    approvals,
    consoleClient,
    consoleLinks: createConsoleLinks({ database, clock, approvals, client: consoleClient }),
    grants,
    cheeses,
    catalogueIndex,
    cheeseLists: new CheeseLists(catalogueIndex, createCursors(secret, 'cheeses')),
    nameLists: new NameLists(catalogueIndex, {
      category: createCursors(secret, 'categories'),
      tag: createCursors(secret, 'tags'),
    }),
    catalogueChanges: createCatalogueChanges({
      database,
      clock,
      cursors: createCursors(secret, 'cheese changes', { name: 'since', field: 'next' }),
      events,
      retentionMs: config.tombstoneRetentionMs,
    }),
    images,
    customers,
    loginThrottle: throttle,
    networks,
    login,
    customerAdministration: createCustomerAdministration({
      database,
      clock,
      sessions,
      grants,
      newPasswords,
      throttle,
      directory: login,
    }),
    customerSearch: createCustomerSearch(database, createCursors(secret, 'customers'), cheeses),
    customerFinder: createCustomerFinder(database, cheeses),
    stock,
    statistics: createStatisticsService(database, clock),
    stockReader: createStockReader(database, cheeses, createCursors(secret, 'stock levels')),
    orders,
    orderApprovals,
    passwords,
    imageRenderer,
    hub,
    events,
    webhookEndpoints: createEndpointService({ ...webhookDependencies, keys, events }),
    testPing: createTestPing(webhookDependencies),
    deliveries: createDeliveryLog(database, clock, createCursors(secret, 'webhook deliveries')),
    replays: createReplayService(database, clock, events),
    orderReader: createOrderReader(database, clock, createCursors(secret, 'orders'), firstId),
    contextOf,
    async close() {
      if (shared === undefined) {
        passwords.close();
        imageRenderer.close();
      }
      await catalogueIndex.close();
      await database.close();
    },
  };
}

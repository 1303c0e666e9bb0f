/** Builds the server from its parts: services, credentials, routes. It does not listen yet. */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { createGuard } from '../auth/guard.ts';
import { accountRoutes } from '../auth/keys/account-routes.ts';
import { createKeyResolver } from '../auth/keys/resolver.ts';
import { keyRoutes } from '../auth/keys/routes.ts';
import { oauthOperatorRoutes } from '../auth/oauth/operator-routes.ts';
import { metadataRoute, styleRoute } from '../auth/oauth/provider/endpoints.ts';
import { createTokenResolver } from '../auth/oauth/resolver.ts';
import { selfRoutes } from '../auth/self-routes.ts';
import { importRoutes } from '../catalogue-import/routes.ts';
import { catalogueChangeRoutes } from '../cheeses/changes/routes.ts';
import { navigationRoutes } from '../cheeses/listing/navigation-routes.ts';
import { listingRoutes } from '../cheeses/listing/routes.ts';
import { cheeseRoutes } from '../cheeses/routes.ts';
import { type Clock, systemClock } from '../clock.ts';
import { customerOperatorRoutes } from '../customers/operator-routes.ts';
import { customerRoutes } from '../customers/routes.ts';
import { createNumbering } from '../event-log/numbering.ts';
import { removeExpiredEvents } from '../event-log/retention.ts';
import { webhookDescriptions } from '../events/event-components.ts';
import { createLiveConnections } from '../events/live-connections.ts';
import { eventRoutes } from '../events/routes.ts';
import type { StreamTimes } from '../events/stream.ts';
import { createUploads } from '../http/bodies/uploads.ts';
import { closeServer } from '../http/close-server.ts';
import { createMetrics, type Metrics } from '../http/metrics/metrics.ts';
import { operationalRoutes } from '../http/metrics/operational-routes.ts';
import { createRecentFailures } from '../http/metrics/recent-failures.ts';
import { createRefusalLog } from '../http/metrics/refusal-log.ts';
import { describeApi } from '../http/openapi/openapi.ts';
import { createDeprecationReport } from '../http/pipeline/deprecation.ts';
import { describeRaw } from '../http/raw-routes.ts';
import type { Route } from '../http/route.ts';
import { createServer } from '../http/server.ts';
import { outcomeRoute } from '../idempotency/routes.ts';
import { imageRoutes } from '../images/routes.ts';
import type { RepeatedWork } from '../jobs/repeated-work.ts';
import { createJobWorker, type JobWorker } from '../jobs/worker.ts';
import { createClientIpCounter } from '../limits/client-ip-counter.ts';
import { createLocalCounter } from '../limits/local-counter.ts';
import { createOverloadGuard } from '../limits/overload.ts';
import { createPostgresCounter } from '../limits/postgres-counter.ts';
import { createRateLimits } from '../limits/rate-limits.ts';
import { createLog, type Log } from '../log.ts';
import { createInstances, type Instances } from '../operations/instances.ts';
import { type Maintenance, runAll, startMaintenance } from '../operations/maintenance.ts';
import { createReadiness } from '../operations/readiness.ts';
import { administrationRoutes } from '../operations/routes.ts';
import { customerOrderRoutes } from '../orders/customer-routes.ts';
import { createOrderCounter } from '../orders/lists/order-counter.ts';
import { storeRoutes } from '../orders/routes.ts';
import { createOrderApprovalHandler } from '../orders/transitions/order-approvals.ts';
import type { Config } from '../settings/config.ts';
import { publicBaseUrl, publicImageUrl } from '../settings/urls.ts';
import { createStatisticsCounter } from '../statistics/counter.ts';
import { statisticsRoutes } from '../statistics/routes.ts';
import { stockRoutes } from '../stock/routes.ts';
import { createStatusHandler } from '../stock/status-job.ts';
import { createIdempotencyStore } from '../stored-responses/store.ts';
import { deliveryRoutes } from '../webhooks/delivery/delivery-routes.ts';
import { createWebhookWorker, type WebhookWorker } from '../webhooks/delivery/worker.ts';
import { webhookRoutes } from '../webhooks/routes.ts';
import { apiInfo } from './api-info.ts';
import { createGauges } from './gauges.ts';
import { pageRoutes } from './page-routes.ts';
import { publishedLimits } from './published-limits.ts';
import { createRawRoutes } from './raw-routes.ts';
import { type ChildPools, openServices, type Services } from './services.ts';

export interface App {
  readonly server: FastifyInstance;
  readonly services: Services;
  readonly routes: readonly Route[];
  readonly log: Log;
  readonly metrics: Metrics;
  /** They approve orders, send webhooks, and count statistics and orders. The caller starts them. */
  readonly worker: JobWorker;
  readonly webhookWorker: WebhookWorker;
  readonly statisticsCounter: RepeatedWork;
  readonly orderCounter: RepeatedWork;
  readonly maintenance: Pick<Maintenance, 'run'>;
  /** The caller reports this one when it listens. */
  readonly instances: Instances;
  /** The OpenAPI document. */
  describe(): unknown;
  /** The public URL of an image; known once the server listens. */
  imageUrl(name: string): string;
  /** Finishes running requests, stores what is buffered, and closes the database. */
  close(): Promise<void>;
}

/**
 * Opens the database and builds the server. Close it when done, even if it never listened.
 * @param shared as for `openServices` @param streamTimes only for tests @throws ConfigError, AppError unavailable
 */
export async function buildApp(
  config: Config,
  clock: Clock = systemClock,
  shared?: ChildPools,
  streamTimes?: StreamTimes,
): Promise<App> {
  const log = createLog(config.logLevel);
  const services = await openServices(config, clock, shared);
  const { database, keys, sessions, cheeses, cheeseLists, customers, loginThrottle, login } = services;
  const { grants, images, customerFinder, consoleLinks, hub, events, orderApprovals } = services;
  const { orders, orderReader, customerAdministration, customerSearch } = services;
  const { environment, secret, registration, passwordLengthMin } = config;

  const keyResolver = createKeyResolver({ database, clock, environment });
  const guard = createGuard([keyResolver.resolve, sessions.resolve, createTokenResolver(database, clock)]);
  // A SQLite database has one server. All servers on a PostgreSQL count together.
  const counts = (database.engine === 'sqlite' ? createLocalCounter : createPostgresCounter)(database, clock);
  const sharedLogins =
    database.engine === 'sqlite' ? undefined : createClientIpCounter(database, clock, secret);
  const rateLimits = createRateLimits({ config, clock, counts, sharedLogins });
  const idempotency = createIdempotencyStore(database, clock, secret);

  const system = services.contextOf('system');
  const handlers = [createOrderApprovalHandler(orderApprovals, system), createStatusHandler(cheeses, system)];
  hub.warnTo(log);
  const worker = createJobWorker({ database, clock, log, handlers });

  const overload = createOverloadGuard();
  const uploads = createUploads(config.incomingDir, clock);
  const metrics = createMetrics();
  const isRedirecting = config.images.kind === 'bucket' && config.imagesUrl !== null;

  const numbering = createNumbering({ database, clock, log });
  const webhookWorker = createWebhookWorker({
    database,
    clock,
    log,
    hub,
    config,
    version: apiInfo.version,
    origin: system.origin,
  });
  const instances = createInstances(database, clock, apiInfo.version);
  const failures = createRecentFailures(clock);
  const deprecations = createDeprecationReport(log, clock.now);
  const statisticsCounter = createStatisticsCounter(database, log);
  const orderCounter = createOrderCounter(database, log);
  const connections = createLiveConnections(config.streams, config.streamsPerAccount);
  metrics.add(
    createGauges({
      services,
      clock,
      overload,
      uploads,
      refusals: rateLimits.refusals,
      webhooks: webhookWorker.stats,
      numbering,
      connections,
    }),
  );

  const requireReady = createReadiness(config, database, services.catalogueIndex);
  const routes = [
    ...listingRoutes(cheeseLists),
    ...navigationRoutes(services.nameLists),
    ...catalogueChangeRoutes(services.catalogueChanges, connections),
    ...cheeseRoutes(cheeses),
    ...importRoutes(services),
    ...imageRoutes({ cheeses, images, urlOf: imageUrl, isRedirecting }),
    ...stockRoutes(services),
    ...storeRoutes({ cheeseLists, orders, orderReader, customerFinder, events, connections }),
    ...customerRoutes({ customers, login, registration, passwordLengthMin }),
    ...customerOperatorRoutes({ administration: customerAdministration, search: customerSearch, issuer }),
    ...customerOrderRoutes({ customerFinder, orders, orderReader }),
    ...keyRoutes(keys),
    ...accountRoutes({ keys, rateLimits, plans: Object.keys(config.plans) }),
    ...oauthOperatorRoutes(services),
    ...statisticsRoutes(services.statistics),
    ...administrationRoutes({
      ...services,
      instances,
      webhooks: webhookWorker.stats,
      connections,
      deprecations,
      failures,
    }),
    ...eventRoutes({ events, hub, connections, times: streamTimes }),
    ...webhookRoutes({ ...services, wake: webhookWorker.wake }),
    ...deliveryRoutes({ ...services, wake: webhookWorker.wake }),
    ...selfRoutes({ ...services, directory: login, config, bounds: publishedLimits(config) }),
    outcomeRoute(idempotency),
    metadataRoute(issuer),
    styleRoute(),
    ...pageRoutes(config, clock, consoleLinks),
    ...operationalRoutes({ requireReady, describe, metrics }),
  ];
  const rawRoutes = createRawRoutes({ services, log, issuer, countClientIp: rateLimits.countClientIp });
  const server = createServer(routes, {
    config,
    clock,
    log,
    metrics,
    guard,
    rateLimits,
    transaction: database.transaction,
    idempotency,
    uploads,
    overload,
    reportDeprecated: deprecations.report,
    failures,
    rawRoutes,
  });

  function describe(): unknown {
    return describeApi([...routes, ...rawRoutes.map(describeRaw)], webhookDescriptions, apiInfo);
  }

  /** Differs from the setting where that is 0. */
  function listeningPort(): number | undefined {
    return (server.server.address() as AddressInfo | null)?.port;
  }

  function imageUrl(name: string): string {
    return publicImageUrl(config, name, listeningPort());
  }

  function issuer(): string {
    return new URL(publicBaseUrl(config, listeningPort())).origin;
  }

  const writeRefusals = createRefusalLog(log, metrics);
  const maintenance = startMaintenance(
    log,
    [
      keyResolver.flushLastUsed,
      idempotency.purge,
      sessions.purge,
      loginThrottle.purge,
      services.networks.purge,
      customerAdministration.purge,
      grants.purge,
      counts.purge,
      uploads.purge,
      images.deleteUnused,
      services.catalogueChanges.purge,
      webhookWorker.maintain,
      webhookWorker.purge,
      instances.report,
      () => removeExpiredEvents(database, clock, config.eventRetentionMs),
    ],
    writeRefusals,
  );

  async function close(): Promise<void> {
    const maintenanceEnd = maintenance.stop();
    overload.stop();
    // First: open streams and long polls would keep the server from stopping.
    const webhooksEnd = webhookWorker.stop();
    const countingEnd = Promise.all([statisticsCounter.stop(), orderCounter.stop()]);
    await hub.stop();
    await closeServer(server);
    writeRefusals();
    await maintenanceEnd;
    await worker.stop();
    await webhooksEnd;
    await countingEnd;
    await numbering.stop();
    await runAll(log, 'buffered data could not be stored', [
      keyResolver.flushLastUsed,
      counts.close,
      instances.stop,
    ]);
    await services.close();
  }
  let closed: Promise<void> | null = null;
  await numbering.start();

  return {
    server,
    services,
    routes,
    log,
    metrics,
    worker,
    maintenance,
    webhookWorker,
    statisticsCounter,
    orderCounter,
    instances,
    describe,
    imageUrl,
    close() {
      closed ??= close();
      return closed;
    },
  };
}

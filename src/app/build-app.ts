/** Builds the server of a shop. It does not listen yet. */
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { unavailable } from '../errors.ts';
import type { Metrics } from '../http/metrics/metrics.ts';
import { operationalRoutes } from '../http/metrics/operational-routes.ts';
import { createRefusalLog } from '../http/metrics/refusal-log.ts';
import { describeApi } from '../http/openapi/openapi.ts';
import { describeRaw } from '../http/raw-routes.ts';
import type { Route } from '../http/route.ts';
import { createServer } from '../http/server.ts';
import { createLog } from '../log.ts';
import { type Maintenance, startMaintenance } from '../operations/maintenance.ts';
import type { Config } from '../settings/config.ts';
import { testDescription } from '../webhooks/test-description.ts';
import { apiInfo } from './api-info.ts';
import { type ComposedShop, composeShop } from './compose.ts';
import type { ShopOptions } from './foundation.ts';

/** How long running requests may take after the server was told to stop. */
const stopTimeoutMs = 30_000;

export interface App extends ComposedShop {
  readonly server: FastifyInstance;
  readonly routes: readonly Route[];
  readonly metrics: Metrics;
  readonly maintenance: Pick<Maintenance, 'run'>;
  /** Starts the background work. The caller does so when the server listens. @param isOnlyServer no other server has this database open */
  start(isOnlyServer: boolean): Promise<void>;
  /** The OpenAPI document. */
  describe(): unknown;
  /** Waits for the delay of the settings, finishes running requests, stores what is buffered, and closes the database. */
  close(): Promise<void>;
}

/** Opens the database and builds the server. Close it when done, even if it never listened. */
export async function buildApp(
  config: Config,
  options: Omit<ShopOptions, 'log' | 'isOfAnyEnvironment' | 'listeningPort'> = {},
): Promise<App> {
  const log = createLog(config.logLevel);
  const listeningPort = () => (server.server.address() as AddressInfo | null)?.port;
  const shop = await composeShop(config, { ...options, log, listeningPort });
  const { database, clock, areas, http, idempotency, auth, operations, events, worker } = shop;
  const { metrics, rateLimits, overload, uploads, failures, deprecations } = http;
  metrics.add(areas.flatMap(({ gauges = [] }) => gauges));

  /** Load balancers stop sending requests to a server that is stopping. */
  async function requireReady(): Promise<void> {
    if (server.isClosing) {
      throw unavailable('The server is stopping.', 1);
    }
    await operations.requireReady();
  }
  const routes = [
    ...areas.flatMap((area) => area.routes ?? []),
    ...operationalRoutes({ requireReady, clock, describe, metrics }),
  ];
  const rawRoutes = areas.flatMap((area) => area.rawRoutes ?? []);
  const server = createServer(routes, {
    config,
    clock,
    log,
    metrics,
    rateLimits,
    uploads,
    overload,
    failures,
    rawRoutes,
    site: shop.site,
    guard: auth.guard,
    transaction: database.transaction,
    hasOneServer: database.hasOneServer,
    testState: shop.testState,
    idempotency: idempotency.store,
    reportDeprecated: deprecations.report,
    requestLog: shop.requestLog.recorder,
    simulate: shop.sandbox.simulate,
  });
  const writeRefusals = createRefusalLog(log, metrics);
  const maintenance = startMaintenance(
    log,
    shop.loops,
    areas.flatMap(({ tasks = [] }) => tasks),
    writeRefusals,
  );
  await events.numbering.start();

  function describe(): unknown {
    const descriptions = [...events.components.webhookDescriptions, testDescription];
    return describeApi([...routes, ...rawRoutes.map(describeRaw)], descriptions, apiInfo);
  }

  async function start(isOnlyServer: boolean): Promise<void> {
    worker.start();
    for (const area of areas) {
      await area.start?.(isOnlyServer);
    }
  }

  async function close(): Promise<void> {
    if (config.stopDelayMs > 0 && server.server.listening) {
      server.isClosing = true;
      await sleep(config.stopDelayMs);
    }
    const maintenanceEnd = maintenance.stop();
    // Open streams and long polls would keep the server from stopping.
    const stopped = shop.stop();
    await closeServer(server);
    writeRefusals();
    await maintenanceEnd;
    await worker.stop();
    await stopped;
    await shop.close();
  }
  let closed: Promise<void> | null = null;

  return {
    ...shop,
    server,
    routes,
    metrics,
    maintenance,
    start,
    describe,
    close() {
      closed ??= close();
      return closed;
    },
  };
}

/** Graceful shutdown: stops listening, and waits for running requests. Their connections are cut when they take too long. */
async function closeServer(server: FastifyInstance): Promise<void> {
  // Connections become idle when their last response was sent, and would stay open for further requests.
  const closing = setInterval(() => server.server.closeIdleConnections(), 50);
  const timeout = setTimeout(() => server.server.closeAllConnections(), stopTimeoutMs);
  await server.close();
  clearInterval(closing);
  clearTimeout(timeout);
}

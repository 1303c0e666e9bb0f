/** Opens a shop: its database and its areas, in the order of their dependencies. Nothing is started. */
import { openOauth } from '../auth/oauth/open.ts';
import { openAuth } from '../auth/open.ts';
import { openCatalogueImport } from '../catalogue-import/open.ts';
import { openCheeses } from '../cheeses/open.ts';
import { systemClock } from '../clock.ts';
import { openCustomers } from '../customers/open.ts';
import { openEdge } from '../edge/open.ts';
import { openEvents } from '../events/open.ts';
import type { Area } from '../http/area.ts';
import { openHttp } from '../http/open.ts';
import { openIdempotency } from '../idempotency/open.ts';
import { openImages } from '../images/open.ts';
import { JobWorker } from '../jobs/worker.ts';
import { createLog } from '../log.ts';
import { openMail } from '../mail/open.ts';
import { openMcp } from '../mcp/open.ts';
import { openNotes } from '../notes/open.ts';
import { runAll } from '../operations/maintenance.ts';
import { openOperations } from '../operations/open.ts';
import { openOrders } from '../orders/open.ts';
import { reservationsOfOpenOrders } from '../orders/transitions/open-orders.ts';
import { openRequestLog } from '../request-log/open.ts';
import { openSandbox } from '../sandbox/open.ts';
import type { Config } from '../settings/config.ts';
import { openShop } from '../shop/open.ts';
import { openStatistics } from '../statistics/open.ts';
import { openStock } from '../stock/open.ts';
import { openWebhooks } from '../webhooks/open.ts';
import { createDemoFill } from './demo/demo.ts';
import { openDemo } from './demo/open.ts';
import { eventTypes } from './event-types.ts';
import { openFoundation, type ShopOptions } from './foundation.ts';
import { openPages } from './page-routes.ts';
import { publishedLimits } from './published-limits.ts';

const none = async () => {};

export type ComposedShop = Awaited<ReturnType<typeof composeShop>>;

/** Close it when done. @throws ConfigError, AppError unavailable */
export async function composeShop(config: Config, options: ShopOptions = {}) {
  const { clock: machineClock = systemClock, log = createLog('silent') } = options;
  const shop = await openFoundation(config, machineClock, log, options);
  const http = openHttp(shop);
  const { countClientIp } = http.rateLimits;
  const idempotency = openIdempotency(shop);
  const events = openEvents({ ...shop, eventTypes, streamTimes: options.streamTimes });
  const shared = { ...shop, countClientIp, events: events.service, connections: events.connections };
  const shopArea = openShop(shop);
  const auth = openAuth({ ...shop, rateLimits: http.rateLimits });
  const { keys, budgets } = auth;
  const cheeses = openCheeses(shared);
  const catalogue = { ...shared, cheeses: cheeses.service, cheeseLists: cheeses.lists };
  const stock = openStock({ ...catalogue, openOrders: reservationsOfOpenOrders });
  const catalogueImport = openCatalogueImport({ ...catalogue, stock: stock.service });
  const images = await openImages({ ...catalogue, renderer: shop.imageRenderer });
  const customers = openCustomers({ ...catalogue, ...auth });
  const { login: directory, registration, finder: customerFinder } = customers;
  const orders = openOrders({ ...catalogue, budgets, customers: customers.service, customerFinder });
  const notes = openNotes({
    ...{ ...shop, customerFinder, customers: customers.service, orderReader: orders.reader },
  });
  const bounds = publishedLimits(config);
  const oauth = openOauth({ ...shared, keys, budgets, directory, registration, bounds });
  const { clients, consoleLinks } = oauth;
  const mail = openMail({
    ...{ ...shared, ...oauth, customerFinder, orderReader: orders.reader },
    shipments: orders.shipments,
    administration: customers.administration,
    customers: customers.service,
  });
  const statistics = openStatistics({ ...shop, cheeses: cheeses.service });
  const demo = openDemo({
    ...{ cheeses: cheeses.service, orderReader: orders.reader, statistics: statistics.service },
  });
  const webhooks = openWebhooks({ ...shared, eventTypes, keys, hub: events.hub });
  const edge = openEdge(catalogue);
  const operations = openOperations({
    ...{ ...catalogue, ...http, keys, clients, customerFinder },
    ...{
      orderReader: orders.reader,
      webhooks: webhooks.worker.stats,
      mail: mail.status,
      catalogueIndex: cheeses.index,
    },
  });
  const requestLog = openRequestLog({ ...shop, instance: operations.instances.id });
  const pages = openPages({ ...shop, consoleLinks });
  const sandbox = openSandbox({
    ...shared,
    jobs: () => worker,
    orderJobsBy: orders.jobsBy,
    webhooks: webhooks.worker,
    numbering: events.numbering,
    eventSchema: events.components.eventSchema,
    ...{ keys, clients, customers, cheeses: cheeses.service, images: images.service, stock: stock.service },
    ...{ orders: orders.service, shipments: orders.shipments },
    ...{ approvals: oauth.approvals, endpoints: webhooks.endpoints, shopService: shopArea.service },
    demo: createDemoFill({ ...shop, cheeses: cheeses.service, images: images.service }),
  });
  const mcp = openMcp({ ...shop, routes: [...cheeses.routes, ...stock.routes, ...orders.routes] });

  // Routes, tasks, metrics and checks are in this order.
  const areas: readonly Area[] = [
    ...[
      shopArea,
      cheeses,
      catalogueImport,
      images,
      stock,
      customers,
      orders,
      notes,
      demo,
      auth,
      oauth,
      statistics,
      edge,
      operations,
    ],
    ...[events, webhooks, mail, requestLog, idempotency, sandbox, pages, mcp, http],
  ];
  shop.hooks.register(areas.flatMap(({ hooks = [] }) => hooks));
  const { database, clock } = shop;
  const worker = new JobWorker({
    ...{ database, clock, log },
    handlers: areas.flatMap(({ jobs = [] }) => jobs),
  });
  let stopped: Promise<unknown> | null = null;
  /** Ends waits of requests and background work. */
  function stop(): Promise<unknown> {
    stopped ??= Promise.all(
      areas.map(({ stop = none }) => runAll(log, 'background work did not end', [stop])),
    );
    return stopped;
  }
  return {
    ...{ ...shop, http, idempotency, events, auth, cheeses, stock, images, customers, orders, oauth },
    ...{ demo, notes, statistics, edge, webhooks, mail, operations, requestLog, sandbox, areas, worker },
    stop,
    async close() {
      await stop();
      await runAll(
        log,
        'buffered data could not be stored',
        areas.map(({ close = none }) => close),
      );
      await shop.close();
    },
  };
}

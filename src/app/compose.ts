/** Opens a shop: its database and its areas, in the order of their dependencies. Nothing is started. */
import { openOauth } from '../auth/oauth/open.ts';
import { openAuth } from '../auth/open.ts';
import { openCatalogueImport } from '../catalogue-import/open.ts';
import { openCheeses } from '../cheeses/open.ts';
import { openCustomers } from '../customers/open.ts';
import { openDelivery } from '../delivery/open.ts';
import { openDiscounts } from '../discounts/open.ts';
import { openEdge } from '../edge/open.ts';
import { openEvents } from '../events/open.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { openHttp } from '../http/open.ts';
import { openIdempotency } from '../idempotency/open.ts';
import { openImages } from '../images/open.ts';
import { JobWorker } from '../jobs/worker.ts';
import { openMail } from '../mail/open.ts';
import { openMcp } from '../mcp/open.ts';
import { openNotes } from '../notes/open.ts';
import { openOperations } from '../operations/open.ts';
import { openOrders } from '../orders/open.ts';
import { reservationsOfOpenOrders } from '../orders/transitions/open-orders.ts';
import { openRequestLog } from '../request-log/open.ts';
import { openSandbox } from '../sandbox/open.ts';
import { orderFates } from '../sandbox/order-notes.ts';
import type { Config } from '../settings/config.ts';
import { openShop } from '../shop/open.ts';
import type { ShopProfile } from '../shop/profile.ts';
import { openStatistics } from '../statistics/open.ts';
import { openStock } from '../stock/open.ts';
import { openTax } from '../tax/open.ts';
import { openWebhooks } from '../webhooks/open.ts';
import { openDemo } from './demo/open.ts';
import { eventTypes } from './event-types.ts';
import { openFoundation, type ShopOptions } from './foundation.ts';
import { openPages } from './page-routes.ts';
import { publishedLimits } from './published-limits.ts';
import { createShopEnd } from './shop-end.ts';

const areasIn = (opened: Readonly<Record<string, Area>>): readonly Area[] => Object.values(opened);

export type ComposedShop = Awaited<ReturnType<typeof composeShop>>;

/** Close it when done. @throws ConfigError, AppError unavailable */
export async function composeShop(config: Config, options: ShopOptions = {}) {
  const shop = await openFoundation(config, options);
  const http = openHttp(shop);
  const idempotency = openIdempotency(shop);
  const events = openEvents({ ...shop, eventTypes, streamTimes: options.streamTimes });
  const auth = openAuth({ ...shop, ...http.provides });
  const base = { ...shop, ...http.provides, ...events.provides, ...auth.provides };
  const webhooks = openWebhooks({ ...base, eventTypes });
  const cheeses = openCheeses(base);
  const selling = openSelling(base);
  const catalogue = { ...base, ...cheeses.provides, ...selling.provides };
  const images = await openImages(catalogue);
  const stock = openStock({ ...catalogue, openOrders: reservationsOfOpenOrders });
  const customers = openCustomers(catalogue);
  const orders = openOrders({ ...catalogue, ...customers.provides, fateOf: orderFates(config.environment) });
  const oauth = openOauth({ ...base, ...customers.provides, bounds: publishedLimits(config) });
  const sales = { ...stock.provides, ...orders.provides, ...customers.provides };
  const others = { ...images.provides, ...oauth.provides, ...webhooks.provides };
  const services = { ...catalogue, ...sales, ...others };
  const catalogueImport = openCatalogueImport(services);
  const notes = openNotes(services);
  const mail = openMail(services);
  const statistics = openStatistics(services);
  const demo = openDemo({ ...services, ...statistics.provides });
  const edge = openEdge(services);
  const operations = openOperations({ ...services, ...mail.provides });
  const requestLog = openRequestLog({ ...services, ...operations.provides });
  const pages = openPages({ ...shop, ...oauth });
  const mcp = openMcp({ ...shop, routes: [...cheeses.routes, ...stock.routes, ...orders.routes] });
  // Routes, tasks, metrics and checks are in this order.
  const withJobs = {
    ...selling.areas,
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
    events,
    webhooks,
    mail,
    requestLog,
    idempotency,
  };
  // The sandbox runs jobs when it moves the clock, so it is opened after all areas that have some.
  const worker = new JobWorker({ ...shop, handlers: areasIn(withJobs).flatMap(({ jobs = [] }) => jobs) });
  const sandbox = openSandbox({ ...services, ...demo.provides, jobs: worker });
  const opened = { ...withJobs, sandbox, pages, mcp, http };
  const areas = areasIn(opened);
  shop.hooks.register(areas.flatMap(({ hooks = [] }) => hooks));
  return { ...shop, ...opened, areas, worker, ...createShopEnd(shop, areas) };
}

/** Opens what the owner of a shop decides, beside the cheeses: the shop itself, delivery, taxes and discount codes. */
function openSelling(dependencies: AreaDependencies & { readonly profile: ShopProfile }) {
  const shopArea = openShop(dependencies);
  const delivery = openDelivery(dependencies);
  const tax = openTax(dependencies);
  const discounts = openDiscounts(dependencies);
  return {
    areas: { shopArea, delivery, tax, discounts },
    provides: { ...shopArea.provides, ...delivery.provides, ...tax.provides, ...discounts.provides },
  };
}

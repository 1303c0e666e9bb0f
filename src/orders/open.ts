/** Opens the orders. */

import type { KeyBudgets } from '../auth/keys/budgets.ts';
import { cheeseDeleted } from '../cheeses/hook-points.ts';
import type { CheeseLists } from '../cheeses/listing/cheese-lists.ts';
import type { CheeseService } from '../cheeses/service.ts';
import type { Clock } from '../clock.ts';
import { createCursors } from '../cursor.ts';
import type { CustomerFinder } from '../customers/customer-finder.ts';
import { customerDeleted } from '../customers/hook-points.ts';
import type { CustomerService } from '../customers/service.ts';
import type { Context } from '../database/context.ts';
import type { DeliveryService } from '../delivery/service.ts';
import type { WrongCodes } from '../discounts/wrong-codes.ts';
import type { EventService } from '../event-log/reading/service.ts';
import type { LiveConnections } from '../events/live-connections.ts';
import { hookOn } from '../hooks/hooks.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { byLabel, cachedFor, gauge } from '../http/metrics/metrics.ts';
import type { ShopProfile } from '../shop/profile.ts';
import { createStockReservations } from '../stock/reservations.ts';
import type { TaxService } from '../tax/service.ts';
import { checkCredits, checkOrders } from './consistency-check.ts';
import { customerOrderRoutes } from './customer-routes.ts';
import { checkUses } from './discount-check.ts';
import { createOrderCounter } from './lists/order-counter.ts';
import { createOrderReader } from './lists/order-reader.ts';
import { firstIdIn } from './order.ts';
import { createOrderCharges } from './placing/charges.ts';
import { createQuotes } from './placing/quotes.ts';
import { quoteRoutes } from './placing/routes.ts';
import { storeRoutes } from './routes.ts';
import { createOrderService } from './service.ts';
import { shipmentRoutes } from './shipments/routes.ts';
import { createShipments } from './shipments/shipments.ts';
import { createAutomaticHandlers } from './transitions/automatic-handlers.ts';
import { createAutomaticSteps } from './transitions/automatic-steps.ts';
import { createOrderOnDelete } from './transitions/on-delete.ts';
import { createOrderApprovalHandler, createOrderApprovals } from './transitions/order-approvals.ts';
import { createOrderFates, type FateOf } from './transitions/order-fates.ts';
import { transitionRoutes } from './transitions/routes.ts';
import { createTransitions } from './transitions/transitions.ts';

/** The maximum age of the counts by status in the metrics. */
const countsFreshMs = 15_000;

interface Dependencies extends AreaDependencies {
  readonly cheeses: CheeseService;
  readonly cheeseLists: CheeseLists;
  readonly profile: ShopProfile;
  readonly delivery: DeliveryService;
  readonly taxes: TaxService;
  readonly wrongCodes: WrongCodes;
  readonly budgets: KeyBudgets;
  readonly fateOf: FateOf;
  readonly customers: CustomerService;
  readonly customerFinder: CustomerFinder;
  readonly events: EventService;
  readonly connections: LiveConnections;
}

export function openOrders(dependencies: Dependencies) {
  const { database, clock, log, loops, config, cheeses, customers, customerFinder, contextOf } = dependencies;
  const firstId = firstIdIn(config.environment);
  const transitionsBy = (clock: Clock) => {
    const stock = createStockReservations(clock);
    const automaticSteps = createAutomaticSteps(clock, config);
    const { shippingTimeMs } = config;
    const transitions = createTransitions({ clock, stock, automaticSteps, shippingTimeMs, firstId });
    const fates = createOrderFates(dependencies.fateOf, transitions, customers);
    const approvals = createOrderApprovals({ clock, cheeses, stock, transitions, fates });
    return { stock, transitions, fates, approvals };
  };
  const jobsOf = (
    clock: Clock,
    { approvals, transitions }: ReturnType<typeof transitionsBy>,
    context: Context,
  ) => [
    createOrderApprovalHandler(approvals, context),
    // A server looks for the jobs of each handler four times a second.
    ...(config.autoShip || config.autoDeliverMs !== null
      ? createAutomaticHandlers(clock, transitions, customers, context)
      : []),
  ];
  const byShopTime = transitionsBy(clock);
  const { stock, transitions, fates, approvals } = byShopTime;
  const shipments = createShipments(database, clock, firstId);
  const charges = createOrderCharges(dependencies);
  const service = createOrderService({
    ...dependencies,
    transitions,
    approvals,
    fates,
    stock,
    charges,
    shipments,
    settings: config,
    firstId,
  });
  /** Handlers that see another time, for a dry run of what will happen. */
  const orderJobsBy = (clock: Clock, context: Context) => jobsOf(clock, transitionsBy(clock), context);
  const cursors = createCursors(config.secret, 'orders');
  const reader = createOrderReader({ ...dependencies, cursors, firstId });
  const counter = createOrderCounter(database, log, loops);
  const onDelete = createOrderOnDelete(clock, transitions);
  return {
    provides: { orders: service, orderReader: reader, shipments, orderJobsBy },
    service,
    reader,
    approvals,
    shipments,
    counter,
    routes: [
      ...storeRoutes({ ...dependencies, orders: service, orderReader: reader }),
      ...quoteRoutes(createQuotes({ ...dependencies, stock, charges, settings: config })),
      ...transitionRoutes(service),
      ...customerOrderRoutes({ customerFinder, orders: service, orderReader: reader }),
      ...shipmentRoutes(customerFinder, reader, shipments),
    ],
    gauges: [
      gauge(
        'curd_orders',
        'Orders by status, counted every 15 seconds at most.',
        cachedFor(clock, countsFreshMs, async () => byLabel('status', await reader.countByStatus())),
      ),
    ],
    jobs: jobsOf(clock, byShopTime, contextOf('system')),
    hooks: [
      hookOn(cheeseDeleted, 'background_job order.approval', onDelete.onCheeseDelete),
      hookOn(customerDeleted, 'background_job order.approval', onDelete.onCustomerDelete),
    ],
    checks: [
      { name: 'orders', run: checkOrders },
      { name: 'discounts', run: checkUses },
      { name: 'customers', run: checkCredits },
    ],
    start: () => counter.start(),
    stop: () => counter.stop(),
  } satisfies Area;
}

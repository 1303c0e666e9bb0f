/** Opens the triggers. */
import type { KeyService } from '../../auth/keys/service.ts';
import type { ClientService } from '../../auth/oauth/clients.ts';
import type { ScopeApprovals } from '../../auth/oauth/scope-approvals.ts';
import type { CheeseService } from '../../cheeses/service.ts';
import type { CustomerAdministration } from '../../customers/administration.ts';
import type { CustomerSearch } from '../../customers/search/search.ts';
import type { CustomerService } from '../../customers/service.ts';
import type { DeliveryService } from '../../delivery/service.ts';
import type { DiscountService } from '../../discounts/service.ts';
import type { Numbering } from '../../event-log/numbering.ts';
import type { EventService } from '../../event-log/reading/service.ts';
import type { AreaDependencies } from '../../http/area.ts';
import type { ImageService } from '../../images/service.ts';
import type { OrderService } from '../../orders/service.ts';
import type { Shipments } from '../../orders/shipments/shipments.ts';
import type { Schema } from '../../schema/schema.ts';
import type { ShopService } from '../../shop/service.ts';
import type { StockService } from '../../stock/service.ts';
import type { TaxService } from '../../tax/service.ts';
import type { EndpointService } from '../../webhooks/service.ts';
import { accessTriggers } from './access-triggers.ts';
import { cheeseTriggers, createMakeCheese } from './cheese-triggers.ts';
import { customerTriggers } from './customer-triggers.ts';
import { createPlaceOrder, orderTriggers } from './order-triggers.ts';
import { triggerRoutes } from './routes.ts';
import { sellingTriggers } from './selling-triggers.ts';
import { shopTriggers } from './shop-triggers.ts';
import { createTriggerService } from './trigger-service.ts';

export interface TriggerDependencies extends AreaDependencies {
  readonly events: EventService;
  readonly eventSchema: Schema;
  readonly numbering: Numbering;
  readonly cheeses: CheeseService;
  readonly images: ImageService;
  readonly stock: StockService;
  readonly orders: OrderService;
  readonly shipments: Shipments;
  readonly customers: CustomerService;
  readonly administration: CustomerAdministration;
  readonly customerSearch: CustomerSearch;
  readonly keys: KeyService;
  readonly clients: ClientService;
  readonly approvals: ScopeApprovals;
  readonly endpoints: EndpointService;
  readonly shopService: ShopService;
  readonly delivery: DeliveryService;
  readonly taxes: TaxService;
  readonly discounts: DiscountService;
}

export function openTriggers(dependencies: TriggerDependencies) {
  const { orders } = dependencies;
  const makeCheese = createMakeCheese(dependencies);
  const placeOrder = createPlaceOrder(orders);
  const service = createTriggerService({
    ...dependencies,
    triggers: {
      ...cheeseTriggers(dependencies, makeCheese),
      ...orderTriggers(dependencies, makeCheese, placeOrder),
      ...customerTriggers(dependencies, makeCheese, placeOrder),
      ...accessTriggers(dependencies),
      ...sellingTriggers(dependencies),
      ...shopTriggers(dependencies),
    },
  });
  return { service, routes: triggerRoutes(service, dependencies.eventSchema) };
}

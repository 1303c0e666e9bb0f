/** Events of customers. */
import type { Principal } from '../../access/principal.ts';
import type { Clock } from '../../clock.ts';
import type { CustomerAdministration } from '../../customers/administration.ts';
import type { CustomerSearch } from '../../customers/search/search.ts';
import type { CustomerService } from '../../customers/service.ts';
import { AppError } from '../../errors.ts';
import type { OrderService } from '../../orders/service.ts';
import type { TierThresholds } from '../../settings/config.ts';
import type { MakeCheese } from './cheese-triggers.ts';
import type { PlaceOrder } from './order-triggers.ts';
import { changing, making, randomText, type TriggerRequest, type Triggers } from './trigger.ts';

interface Dependencies {
  readonly clock: Clock;
  readonly config: { readonly tiers: TierThresholds };
  readonly customers: CustomerService;
  readonly administration: CustomerAdministration;
  readonly customerSearch: CustomerSearch;
  readonly orders: OrderService;
}

interface FoundCustomer {
  readonly customer: { readonly username: string; readonly customerStatus: string };
  readonly role: 'customer' | 'staff';
}

/** Kilograms of the order that raises a tier. */
const quantity = 100;

export function customerTriggers(
  dependencies: Dependencies,
  makeCheese: MakeCheese,
  placeOrder: PlaceOrder,
): Triggers {
  const { clock, config, orders, customers, administration, customerSearch: search } = dependencies;
  const find = async (id: number): Promise<FoundCustomer> => JSON.parse(await search.find(id));

  async function makeCustomer({ context }: TriggerRequest): Promise<number> {
    const username = `test-${randomText(clock, 6)}`;
    const password = randomText(clock, 16);
    const { body } = await customers.register(context, {
      username,
      password,
      email: `${username}@example.com`,
    });
    return JSON.parse(body).id;
  }

  /** Delivers an order that is worth the highest tier. */
  async function raiseTier(request: TriggerRequest, id: number): Promise<void> {
    const { customer } = await find(id);
    if (customer.customerStatus === 'platinum') {
      throw new AppError(
        'conflict',
        'The customer has the highest tier already. Give another customer, or none.',
      );
    }
    const placer: Principal = {
      ...request.principal,
      kind: 'session',
      id: `customer:${id}`,
      accountId: null,
      customerId: id,
    };
    const cheeseId = await makeCheese(request, Math.max(1, Math.ceil(config.tiers.platinum / quantity)));
    const orderId = await placeOrder(request, placer, cheeseId, quantity);
    await orders.approve(request.context, orderId);
    await orders.ship(request.context, orderId);
    await orders.deliver(request.context, orderId);
  }

  return {
    'customer.created': making('customer', makeCustomer),
    'customer.updated': changing('customer', makeCustomer, async ({ context, principal }, id) => {
      const { role } = await find(id);
      await administration.changeRole(context, id, role === 'staff' ? 'customer' : 'staff', principal);
    }),
    'customer.deleted': changing('customer', makeCustomer, async ({ context, principal }, id) => {
      const { customer } = await find(id);
      await customers.delete(context, customer.username, principal);
    }),
    'customer.sessions_ended': changing('customer', makeCustomer, ({ context }, id) =>
      administration.endSessions(context, id),
    ),
    'customer.password_reset_created': changing('customer', makeCustomer, ({ context }, id) =>
      administration.createReset(context, id),
    ),
    'customer.password_reset': changing('customer', makeCustomer, async ({ context }, id) => {
      const { token } = await administration.createReset(context, id);
      await administration.redeemReset(token, randomText(clock, 16), '127.0.0.1');
    }),
    'customer.tier_changed': changing('customer', makeCustomer, raiseTier),
  };
}

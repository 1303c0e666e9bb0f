/** What an order costs beside its lines, by what the shop has configured. Orders and quotes ask here; it locks nothing. */
import type { FieldError } from '../../errors.ts';
import type { ShopProfile } from '../../shop/profile.ts';
import { type OrderPrice, priceGoods, priceOrder } from '../pricing/breakdown.ts';
import type { OrderItem } from '../schemas.ts';

interface Dependencies {
  readonly profile: Pick<ShopProfile, 'current'>;
}

export interface Charges {
  readonly price: OrderPrice;
  /** Why the order cannot be placed like this, by the members of the request. */
  readonly problems: readonly FieldError[];
}

export type OrderCharges = ReturnType<typeof createOrderCharges>;

export function createOrderCharges({ profile }: Dependencies) {
  return {
    /** @param items lines without errors */
    async read(items: readonly OrderItem[]): Promise<Charges> {
      const goods = priceGoods(items, 'off', null);
      const { currency } = profile.current;
      return { price: priceOrder(goods, { currency, mode: 'off', delivery: null }), problems: [] };
    },
  };
}

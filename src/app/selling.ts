/** Opens what the owner of a shop decides, beside the cheeses: the shop itself, delivery, taxes and discount codes. */
import { openDelivery } from '../delivery/open.ts';
import { openDiscounts } from '../discounts/open.ts';
import type { AreaDependencies } from '../http/area.ts';
import { openShop } from '../shop/open.ts';
import type { ShopProfile } from '../shop/profile.ts';
import { openTax } from '../tax/open.ts';

interface Dependencies extends AreaDependencies {
  readonly profile: ShopProfile;
}

export function openSelling(dependencies: Dependencies) {
  const shopArea = openShop(dependencies);
  const delivery = openDelivery(dependencies);
  const tax = openTax(dependencies);
  const discounts = openDiscounts(dependencies);
  return {
    areas: { shopArea, delivery, tax, discounts },
    provides: { ...shopArea.provides, ...delivery.provides, ...tax.provides, ...discounts.provides },
  };
}

/** Opens the shop: what its owner decides. */
import type { Area, AreaDependencies } from '../http/area.ts';
import type { ShopProfile } from './profile.ts';
import { shopRoutes } from './routes.ts';
import { createShopService } from './service.ts';

interface Dependencies extends AreaDependencies {
  readonly profile: ShopProfile;
}

export function openShop({ config, clock, log, profile }: Dependencies) {
  const service = createShopService({ clock, profile });
  return {
    provides: { shopService: service },
    service,
    routes: shopRoutes(service),
    start(): void {
      const { name } = profile.current;
      if (
        config.given.some(({ variable, origin }) => variable === 'CURD_SHOP_NAME' && origin !== 'default') &&
        config.shopName !== name
      ) {
        log.warn(
          { name, ignored: config.shopName },
          'CURD_SHOP_NAME is the name at the first start only: change the name of the shop with PATCH /v2/shop',
        );
      }
      profile.start();
    },
    stop: () => profile.stop(),
  } satisfies Area;
}

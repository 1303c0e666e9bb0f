/** The edits of the shop over its stored version. */
import { useQueryClient } from '@tanstack/react-query';
import { etagOf, isCurdError } from '../../../../client/src/index.ts';
import { shopCurrency } from '../../currency.ts';
import { useCurd } from '../../data/queries.ts';
import { shopName } from '../../environment.ts';
import { fieldErrors } from '../../parts/action.ts';
import { useVersionedForm } from '../../parts/forms/use-versioned-form.ts';
import { toMessage } from '../../session/session.ts';
import { patchOf, type ShopProfile, valuesOf } from './shop-values.ts';

export interface VersionedShop {
  readonly shop: ShopProfile;
  readonly etag: string | undefined;
}

export const shopKey = ['shop'];

export const withVersion = (shop: ShopProfile): VersionedShop => ({ shop, etag: etagOf(shop) });

interface Failure {
  /** Sentences by field. */
  readonly fields: Readonly<Record<string, string>>;
  /** Undefined if the fields say it. */
  readonly text?: string;
}

function failureOf(error: unknown): Failure {
  const fields = fieldErrors(error);
  // No other rule of the shop is in conflict with what is stored.
  return isCurdError(error, 'conflict')
    ? { fields: { currency: toMessage(error) } }
    : fields === null
      ? { fields: {}, text: toMessage(error) }
      : { fields };
}

export function useShopForm(server: VersionedShop) {
  const curd = useCurd();
  const client = useQueryClient();
  const form = useVersionedForm({
    server,
    valuesOf: ({ shop }) => valuesOf(shop),
    read: async () => withVersion(await curd.shop.get()),
    patch: async ({ shop, etag }, changes) =>
      withVersion(await curd.shop.patch(patchOf(changes, valuesOf(shop)), { ifMatch: etag })),
    onSaved: (saved) => {
      client.setQueryData(shopKey, saved);
      if (saved.shop.currency !== shopCurrency || saved.shop.name !== shopName) {
        // The page was made with the old ones.
        window.location.reload();
      }
    },
  });
  return { ...form, failure: form.failure === null ? { fields: {} } : failureOf(form.failure) };
}

/** What the owner decides about delivery and taxes: members of the shop, and of its settings, as one form. */
import { useQueryClient } from '@tanstack/react-query';
import { type Curd, etagOf, type Result } from '../../../../client/src/index.ts';
import { useApi, useCurd } from '../../data/queries.ts';
import { invalidate } from '../../parts/action.ts';
import { type NumberRules, readNumber } from '../../parts/fields/number.ts';
import { useVersionedForm } from '../../parts/forms/use-versioned-form.ts';

export type TaxMode = Result<'getShop'>['tax']['mode'];

export interface ShopRules {
  readonly required: boolean;
  readonly taxMode: TaxMode;
  /** Text of the field. */
  readonly packagingGrams: string;
}

export const ruleLabels: Readonly<Record<keyof ShopRules, string>> = {
  required: 'Every order has a delivery',
  taxMode: 'Taxes',
  packagingGrams: 'Weight of the packaging',
};

export const packagingRules: NumberRules = { decimals: 0, min: 0, max: 100_000 };

interface Version {
  readonly shop: Result<'getShop'>;
  readonly shopEtag: string | undefined;
  readonly settings: Result<'getShopSettings'>;
  readonly settingsEtag: string | undefined;
}

const rulesKey = ['shop', 'rules'];

export async function readRules(curd: Curd): Promise<Version> {
  const [shop, settings] = await Promise.all([curd.shop.get(), curd.shop.getSettings()]);
  return { shop, shopEtag: etagOf(shop), settings, settingsEtag: etagOf(settings) };
}

export const useRules = () => useApi(rulesKey, readRules);

export const toShopRules = ({ shop, settings }: Version): ShopRules => ({
  required: shop.delivery.required,
  taxMode: shop.tax.mode,
  packagingGrams: String(settings.delivery.packagingGrams),
});

const gramsIn = (text: string): number => readNumber(text, packagingRules).value ?? 0;

/** Sends what changed to the resource that has it. */
async function patchRules(curd: Curd, version: Version, changes: Partial<ShopRules>): Promise<Version> {
  const { required, taxMode, packagingGrams } = changes;
  if (required !== undefined || taxMode !== undefined) {
    await curd.shop.patch(
      {
        ...(required !== undefined && { delivery: { required } }),
        ...(taxMode !== undefined && { tax: { mode: taxMode } }),
      },
      { ifMatch: version.shopEtag },
    );
  }
  if (packagingGrams !== undefined) {
    await curd.shop.patchSettings(
      { delivery: { packagingGrams: gramsIn(packagingGrams) } },
      { ifMatch: version.settingsEtag },
    );
  }
  return readRules(curd);
}

export function useRulesForm(server: Version) {
  const curd = useCurd();
  const client = useQueryClient();
  return useVersionedForm<Version, ShopRules>({
    server,
    valuesOf: toShopRules,
    read: () => readRules(curd),
    patch: (version, changes) => patchRules(curd, version, changes),
    refuse: ({ packagingGrams = '' }) => readNumber(packagingGrams, packagingRules).problem,
    onSaved: (saved) => {
      client.setQueryData(rulesKey, saved);
      void invalidate('quote', 'taxes');
    },
  });
}

export type RulesForm = ReturnType<typeof useRulesForm>;

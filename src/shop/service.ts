/** Changes what the shop is. */
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import { AppError, requireNoErrors } from '../errors.ts';
import { recordEvents } from '../event-log/record.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { shopChanged } from './event-types.ts';
import type { ShopProfile } from './profile.ts';
import { type ShopRow, shopQueries } from './queries.ts';
import {
  type Shop,
  type ShopAddress,
  type ShopPatch,
  type ShopSettings,
  settingsMemberNames,
  shopMembers,
} from './schemas.ts';

interface Dependencies {
  readonly clock: Clock;
  readonly profile: ShopProfile;
}

/** The response to a change, and what its precondition compares. */
type View = (row: ShopRow) => Versioned;

export type ShopService = ReturnType<typeof createShopService>;

export function createShopService({ clock, profile }: Dependencies) {
  async function change(
    context: Context,
    patch: ShopPatch,
    view: View,
    precondition?: Precondition,
  ): Promise<Versioned> {
    const changed = await context.transaction(async (tx) => {
      const queries = shopQueries(tx);
      const row = (await queries.lock()) as ShopRow;
      precondition?.(view(row).version);
      const { next, names } = applyPatch(row, patch);
      if (names.length === 0) {
        return row;
      }
      if (names.includes('currency') && row.currency_fixed === 1) {
        const { currency }: Shop = JSON.parse(row.body);
        throw new AppError(
          'conflict',
          `The currency is ${currency} since the first order, and a change would turn the prices and orders of the shop into other amounts. Another currency needs another shop.`,
        );
      }
      await queries.update(next);
      await recordEvents(tx, context.origin, timestamp(clock.now()), [
        shopChanged.of('shop', { changed: names }),
      ]);
      return next;
    });
    // A dry run has changed nothing: this reads what is stored.
    await profile.read();
    return view(changed);
  }

  return {
    find: async (): Promise<Versioned> => toShop(await profile.read()),

    findSettings: async (): Promise<Versioned> => toSettings(await profile.read()),

    /** @throws AppError preconditionFailed, validation, conflict if the currency is fixed */
    change: (context: Context, patch: ShopPatch, precondition?: Precondition) =>
      change(context, patch, toShop, precondition),

    /** @throws AppError preconditionFailed */
    changeSettings: (context: Context, patch: Pick<ShopPatch, 'delivery'>, precondition?: Precondition) =>
      change(context, patch, toSettings, precondition),
  };
}

const toShop: View = ({ version, body }) => ({ id: 1, version, body });

const toSettings: View = ({ settings_version, settings }) => ({
  id: 1,
  version: settings_version,
  body: settings,
});

const emptyAddress: ShopAddress = {
  street: null,
  street2: null,
  zipCode: null,
  city: null,
  state: null,
  country: null,
};

/** The row after a merge patch, and the names of the members that differ. @throws AppError validation */
function applyPatch(row: ShopRow, { address: patched, delivery, tax, ...patch }: ShopPatch) {
  const shop: Shop = JSON.parse(row.body);
  const settings: ShopSettings = JSON.parse(row.settings);
  const nextShop: Shop = {
    ...shop,
    ...patch,
    address: patched === undefined ? shop.address : patched && mergeAddress(shop.address, patched),
    delivery: mergeMembers(shop.delivery, delivery),
    tax: mergeMembers(shop.tax, tax),
  };
  const nextSettings: ShopSettings = { delivery: mergeMembers(settings.delivery, delivery) };
  const names = differences(shop, nextShop, shopMembers);
  const settingsNames = differences(settings, nextSettings, settingsMemberNames);
  const next: ShopRow = {
    ...row,
    version: row.version + (names.length === 0 ? 0 : 1),
    // Sorted like the schema, so that equal shops have equal texts.
    body: JSON.stringify(Object.fromEntries(shopMembers.map((name) => [name, nextShop[name]]))),
    settings_version: row.settings_version + (settingsNames.length === 0 ? 0 : 1),
    settings: JSON.stringify(nextSettings),
  };
  return { next, names: [...names, ...settingsNames] };
}

/** The members that `before` has, with what the patch states of them. */
function mergeMembers<T extends object>(before: T, patch: Partial<T> = {}): T {
  const names = Object.keys(before) as (keyof T)[];
  return Object.fromEntries(names.map((name) => [name, patch[name] ?? before[name]])) as T;
}

/** @throws AppError validation if the address has no street, city or country */
function mergeAddress(before: ShopAddress | null, patch: Partial<ShopAddress>): ShopAddress {
  const address = { ...emptyAddress, ...before, ...patch };
  requireNoErrors(
    (['street', 'city', 'country'] as const)
      .filter((name) => address[name] === null)
      .map((name) => ({ field: `address.${name}`, message: 'is required in an address' })),
  );
  return { ...address, country: address.country?.toUpperCase() ?? null };
}

/** The members that differ, with those of objects by their paths. */
function differences<T extends object>(before: T, after: T, names: readonly (keyof T & string)[]): string[] {
  return names.flatMap((name) => {
    if (JSON.stringify(before[name]) === JSON.stringify(after[name])) {
      return [];
    }
    const [from, to] = [before[name], after[name]];
    return typeof from === 'object' && typeof to === 'object' && from !== null && to !== null
      ? Object.keys(to)
          .filter((part) => from[part as keyof typeof from] !== to[part as keyof typeof to])
          .map((part) => `${name}.${part}`)
      : [name];
  });
}

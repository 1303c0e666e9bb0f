/** Changes what the shop is. */
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import { AppError, requireNoErrors } from '../errors.ts';
import { recordEvents } from '../event-log/record.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { shopChanged } from './event-types.ts';
import type { ShopProfile } from './profile.ts';
import { type ShopRow, shopQueries } from './queries.ts';
import { type Shop, type ShopAddress, type ShopPatch, shopMembers } from './schemas.ts';

interface Dependencies {
  readonly clock: Clock;
  readonly profile: ShopProfile;
}

export type ShopService = ReturnType<typeof createShopService>;

export function createShopService({ clock, profile }: Dependencies) {
  return {
    find: async (): Promise<Versioned> => toVersioned(await profile.read()),

    /** @throws AppError preconditionFailed, validation, conflict if the currency is fixed */
    async change(context: Context, patch: ShopPatch, precondition?: Precondition): Promise<Versioned> {
      const changed = await context.transaction(async (tx) => {
        const queries = shopQueries(tx);
        const row = (await queries.lock()) as ShopRow;
        precondition?.(row.version);
        const before: Shop = JSON.parse(row.body);
        const after = merge(before, patch);
        const names = differences(before, after);
        if (names.length === 0) {
          return row;
        }
        if (names.includes('currency') && row.currency_fixed === 1) {
          throw new AppError(
            'conflict',
            `The currency is ${before.currency} since the first order, and a change would turn the prices and orders of the shop into other amounts. Another currency needs another shop.`,
          );
        }
        const next = { ...row, version: row.version + 1, body: JSON.stringify(after) };
        await queries.update(next);
        await recordEvents(tx, context.origin, timestamp(clock.now()), [
          shopChanged.of('shop', { changed: names }),
        ]);
        return next;
      });
      // A dry run has changed nothing: this reads what is stored.
      await profile.read();
      return toVersioned(changed);
    },
  };
}

const toVersioned = ({ version, body }: ShopRow): Versioned => ({ id: 1, version, body });

const emptyAddress: ShopAddress = {
  street: null,
  street2: null,
  zipCode: null,
  city: null,
  state: null,
  country: null,
};

/** The shop after a merge patch. @throws AppError validation if its address has no street, city or country */
function merge(before: Shop, { address: patched, ...patch }: ShopPatch): Shop {
  const address = patched === undefined ? before.address : patched && mergeAddress(before.address, patched);
  const after = { ...before, ...patch, address };
  // Sorted like the schema, so that equal shops have equal texts.
  return Object.fromEntries(shopMembers.map((name) => [name, after[name]])) as unknown as Shop;
}

function mergeAddress(before: ShopAddress | null, patch: Partial<ShopAddress>): ShopAddress {
  const address = { ...emptyAddress, ...before, ...patch };
  requireNoErrors(
    (['street', 'city', 'country'] as const)
      .filter((name) => address[name] === null)
      .map((name) => ({ field: `address.${name}`, message: 'is required in an address' })),
  );
  return { ...address, country: address.country?.toUpperCase() ?? null };
}

/** The members that differ, with the members of the address by their paths. */
function differences(before: Shop, after: Shop): string[] {
  return shopMembers.flatMap((name) => {
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

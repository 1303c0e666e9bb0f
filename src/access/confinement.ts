/** The categories and cheeses to which a restricted key is confined: what it may order and change. */
import { AppError } from '../errors.ts';
import { foldText } from '../schema/folding.ts';
import type { KeyLimits } from './key-limits.ts';
import type { Principal } from './principal.ts';

interface ConfinedCheese {
  readonly id: number;
  readonly category?: { readonly name?: string } | null;
}

/** Whether the cheese is one of those that the limits name; if both members are set, both must name it. */
export function isWithin({ categories, cheeseIds }: KeyLimits, { id, category }: ConfinedCheese): boolean {
  if (cheeseIds !== undefined && !cheeseIds.includes(id)) {
    return false;
  }
  if (categories === undefined) {
    return true;
  }
  const folded = foldText(category?.name ?? '');
  return category !== undefined && category !== null && categories.some((name) => foldText(name) === folded);
}

/** What the limits permit, for messages. */
export function confinementText({ categories, cheeseIds }: KeyLimits): string {
  const parts = [
    ...(categories === undefined ? [] : [`the categories ${categories.join(', ')}`]),
    ...(cheeseIds === undefined ? [] : [`${cheeseIds.length} cheeses by their ids`]),
  ];
  return parts.join(' and to ');
}

/** @param limits of the key that makes the change @throws AppError forbidden */
export function requireWithin(limits: KeyLimits | null | undefined, cheese: ConfinedCheese): void {
  if (limits !== null && limits !== undefined && !isWithin(limits, cheese)) {
    throw new AppError(
      'forbidden',
      `This restricted key is confined to ${confinementText(limits)}, and the cheese ${cheese.id} would be outside of them.`,
      { details: { scopes: [] } },
    );
  }
}

/** @param limits of the key that creates cheeses @throws AppError forbidden if they list the ids of cheeses */
export function requireMayCreate(limits: KeyLimits | null | undefined): void {
  if (limits?.cheeseIds !== undefined) {
    throw new AppError(
      'forbidden',
      'This restricted key is confined to certain cheeses, so it creates none.',
      { details: { scopes: [] } },
    );
  }
}

/**
 * Which effects of a dry run a credential may see. A restricted key sees its own orders alone, but it may delete cheeses
 * that are in the orders of others.
 * @param path of the route, which reaches only orders that the key may see
 */
export function effectsShownTo(principal: Principal | null, path: string): (subject: string) => boolean {
  const isRestricted = (principal?.limits ?? null) !== null;
  return isRestricted && !path.startsWith('/store/order')
    ? (subject) => !/^(order|customer):/.test(subject)
    : () => true;
}

/** Which methods serve an order, and what they cost. Pure functions. */
import { wholeCents } from '../decimal.ts';
import { toZipKey } from '../schema/folding.ts';
import { type DeliveryMethod, zipPrefixMax } from './schemas.ts';

/** The place to which goods go. */
export interface Destination {
  /** ISO 3166-1 alpha-2, in upper case. */
  readonly country: string;
  readonly state: string | null;
  readonly zipCode: string | null;
}

/** What a method carries. */
export interface Load {
  /** Goods without packaging. */
  readonly grams: number;
  readonly packagingGrams: number;
  /** What the goods cost after the discount. */
  readonly goodsCents: number;
}

/** Beginnings of ZIP codes of a method, as they are compared: there can be 500, and a quote asks 50 methods. */
const zipKeys = new WeakMap<DeliveryMethod, ReadonlySet<string>>();

function servesZip(method: DeliveryMethod, zipPrefixes: readonly string[], zip: string): boolean {
  let keys = zipKeys.get(method);
  if (keys === undefined) {
    keys = new Set(zipPrefixes.map(toZipKey));
    zipKeys.set(method, keys);
  }
  for (let length = Math.min(zip.length, zipPrefixMax); length > 0; length -= 1) {
    if (keys.has(zip.slice(0, length))) {
      return true;
    }
  }
  return false;
}

/** Why a method does not serve an order; null if it does. @param to null: anywhere */
export function whyNotServed(method: DeliveryMethod, to: Destination | null, load: Load): string | null {
  const { name, countries, zipPrefixes } = method;
  if (to !== null && countries !== null && !countries.includes(to.country)) {
    return `${name} does not deliver to ${to.country}`;
  }
  const zip = to === null ? null : toZipKey(to.zipCode ?? '');
  if (zip !== null && zipPrefixes !== null && !servesZip(method, zipPrefixes, zip)) {
    return zip === '' ? `${name} needs a ZIP code` : `${name} does not deliver to this ZIP code`;
  }
  const grams = weightOf(method, load);
  const most = method.rates.at(-1)?.upToGrams;
  return most !== undefined && grams > most
    ? `${name} takes at most ${most / 1000} kg with the packaging, and the order is heavier`
    : null;
}

/** Cents of a method that serves an order. */
export function computeCharge(method: DeliveryMethod, load: Load): number {
  const { freeFrom, rates } = method;
  if (freeFrom !== null && load.goodsCents >= wholeCents(freeFrom)) {
    return 0;
  }
  const grams = weightOf(method, load);
  return wholeCents(rates.find(({ upToGrams }) => grams <= upToGrams)?.amount ?? 0);
}

/** The cheapest parcel that serves an order; among equal charges the first by its position. */
export function chooseMethod(
  methods: readonly DeliveryMethod[],
  to: Destination | null,
  load: Load,
): DeliveryMethod | undefined {
  return methods
    .filter((method) => method.kind === 'parcel' && whyNotServed(method, to, load) === null)
    .toSorted(
      (a, b) => computeCharge(a, load) - computeCharge(b, load) || a.position - b.position || a.id - b.id,
    )[0];
}

function weightOf({ kind }: DeliveryMethod, { grams, packagingGrams }: Load): number {
  return kind === 'parcel' ? grams + packagingGrams : grams;
}

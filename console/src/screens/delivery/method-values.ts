/** The texts of the form of a delivery method, and what they say in words. */
import type { Body, Result } from '../../../../client/src/index.ts';
import {
  type NumberRules,
  priceRules,
  readNumber,
  writeNumber,
  writePrice,
} from '../../parts/fields/number.ts';
import { countryName } from '../../parts/text/countries.ts';
import { locale, showKilograms, showMoney, showWeekday } from '../../parts/text/format.ts';

export type Method = Result<'getDeliveryMethod'>;
type Weekday = NonNullable<Method['shipDays']>[number];

export const weekdays: readonly Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const workdays = weekdays.slice(0, 5);

export const kilogramRules: NumberRules = { decimals: 3, min: 0.001, max: 10_000 };
export const transitRules: NumberRules = { decimals: 0, min: 0, max: 14 };
export const positionRules: NumberRules = { decimals: 0, min: 0, max: 10_000 };

interface RateTexts {
  readonly upToKg: string;
  readonly amount: string;
}

export interface MethodValues {
  readonly name: string;
  readonly kind: Method['kind'];
  /** None: everywhere. */
  readonly countries: readonly string[];
  /** Separated by commas; '' for all. */
  readonly zipPrefixes: string;
  readonly rates: readonly RateTexts[];
  readonly freeFrom: string;
  readonly shipDays: readonly Weekday[];
  readonly cutOff: string;
  readonly transitDays: string;
  readonly deliveryDays: readonly Weekday[];
  readonly text: string;
  readonly position: string;
  readonly isEnabled: boolean;
}

export const methodLabels: Readonly<Record<keyof MethodValues, string>> = {
  name: 'Name',
  kind: 'Kind',
  countries: 'Countries',
  zipPrefixes: 'Only zip codes that begin with',
  rates: 'Charges by weight',
  freeFrom: 'Free from',
  shipDays: 'Ship days',
  cutOff: 'Order before',
  transitDays: 'Days on the way',
  deliveryDays: 'The carrier delivers on',
  text: 'Text for customers',
  position: 'Place in the list',
  isEnabled: 'Customers can choose it',
};

export const newRate: RateTexts = { upToKg: '', amount: '' };

export function toMethodValues(method: Method | null): MethodValues {
  return {
    name: method?.name ?? '',
    kind: method?.kind ?? 'parcel',
    countries: method?.countries ?? [],
    zipPrefixes: method?.zipPrefixes?.join(', ') ?? '',
    rates: method?.rates.map(({ upToGrams, amount }) => ({
      upToKg: writeNumber(upToGrams / 1000),
      amount: writePrice(amount),
    })) ?? [newRate],
    freeFrom: writePrice(method?.freeFrom),
    shipDays: method?.shipDays ?? weekdays,
    cutOff: method?.cutOff ?? '',
    transitDays: writeNumber(method?.transitDays),
    deliveryDays: method?.deliveryDays ?? workdays,
    text: method?.text ?? '',
    position: String(method?.position ?? 0),
    isEnabled: method?.isEnabled ?? true,
  };
}

/** Rows of charges without the empty ones. */
const writtenRates = ({ rates }: MethodValues) =>
  rates.filter(({ upToKg, amount }) => upToKg.trim() !== '' || amount.trim() !== '');

/** Rates whose texts are numbers. */
export const parseRates = (values: MethodValues): Method['rates'] =>
  writtenRates(values).flatMap(({ upToKg, amount }) => {
    const kilograms = readNumber(upToKg, kilogramRules).value;
    const money = readNumber(amount, priceRules).value;
    return kilograms === null || money === null
      ? []
      : [{ upToGrams: Math.round(kilograms * 1000), amount: money }];
  });

export function findMethodProblem(values: MethodValues): string | null {
  const numbers = [
    readNumber(values.freeFrom, priceRules),
    readNumber(values.transitDays, transitRules),
    readNumber(values.position, positionRules),
  ];
  return values.name.trim() === ''
    ? 'Write a name, such as Cooled parcel.'
    : parseRates(values).length < writtenRates(values).length
      ? 'Each charge needs a weight and an amount. Write 0 for a free one.'
      : values.kind === 'parcel' && parseRates(values).length === 0
        ? 'Write what a parcel costs, such as up to 10 kg: 9.90.'
        : values.shipDays.length === 0
          ? 'Choose at least one ship day.'
          : numbers.some(({ problem }) => problem !== null)
            ? 'Correct the numbers that are marked.'
            : null;
}

/** Null stands for all of the usual days. */
const daysOf = (days: readonly Weekday[], usual: readonly Weekday[]) =>
  days.length === 0 || usual.join() === inOrder(days).join() ? null : inOrder(days);

const inOrder = (days: readonly Weekday[]) => weekdays.filter((day) => days.includes(day));

const nonEmpty = <T>(list: T[]): T[] | null => (list.length === 0 ? null : list);

export function toMethodBody(values: MethodValues): Body<'createDeliveryMethod'> {
  const isParcel = values.kind === 'parcel';
  return {
    name: values.name.trim(),
    kind: values.kind,
    countries: nonEmpty([...values.countries]),
    zipPrefixes: nonEmpty(values.zipPrefixes.split(/[,;\n]/).flatMap((text) => text.trim() || [])),
    rates: parseRates(values),
    freeFrom: readNumber(values.freeFrom, priceRules).value,
    shipDays: daysOf(values.shipDays, weekdays),
    cutOff: values.cutOff === '' ? null : values.cutOff,
    transitDays: isParcel ? readNumber(values.transitDays, transitRules).value : null,
    deliveryDays: isParcel ? daysOf(values.deliveryDays, workdays) : null,
    text: values.text.trim() || null,
    position: readNumber(values.position, positionRules).value ?? 0,
    isEnabled: values.isEnabled,
  };
}

/** The changed fields alone, so that changes of others stay. A change of the kind also changes what a pickup does not have. */
export function toMethodPatch(
  changes: Partial<MethodValues>,
  values: MethodValues,
): Body<'patchDeliveryMethod'> {
  const names: readonly string[] = [
    ...Object.keys(changes),
    ...(changes.kind === undefined ? [] : ['transitDays', 'deliveryDays']),
  ];
  return Object.fromEntries(Object.entries(toMethodBody(values)).filter(([name]) => names.includes(name)));
}

export function showMethodValue(value: unknown, field: string): string {
  if (field === 'rates') {
    return chargesText(
      (value as MethodValues['rates']).map(({ upToKg, amount }) => [`${upToKg} kg`, amount]),
    );
  }
  const text = Array.isArray(value)
    ? value.map((one) => (field === 'countries' ? countryName(one) : dayName(one))).join(', ')
    : value === true
      ? 'yes'
      : value === false
        ? 'no'
        : String(value);
  return text || '-';
}

const dayName = (day: Weekday) => showWeekday(weekdays.indexOf(day));

const listed = new Intl.ListFormat(locale, { type: 'disjunction' });

export const daysText = (days: readonly Weekday[]): string =>
  days.length === weekdays.length ? 'every day' : listed.format(inOrder(days).map(dayName));

const chargesText = (rates: readonly (readonly [string, string])[]): string =>
  rates.map(([weight, amount], index) => `${index === 0 ? 'Up' : 'up'} to ${weight}: ${amount}`).join(', ');

/** "Up to 2 kg: €6.90, up to 10 kg: €9.90, free from €150.00" */
export function describeCharges({ rates, freeFrom }: Pick<Method, 'rates' | 'freeFrom'>): string {
  const free = freeFrom === null ? '' : `, free from ${showMoney(freeFrom)}`;
  const charges = rates.map(
    ({ upToGrams, amount }) =>
      [showKilograms(upToGrams / 1000), amount === 0 ? 'free' : showMoney(amount)] as const,
  );
  return (rates.length === 0 ? 'Free' : chargesText(charges)) + (rates.length === 0 ? '' : free);
}

/** "Switzerland, Austria", with the beginnings of zip codes. */
export function describePlaces(values: Pick<MethodValues, 'countries' | 'zipPrefixes'>): string {
  const { countries, zipPrefixes } = values;
  const names = countries.slice(0, 4).map(countryName);
  const more = countries.length > names.length ? ` +${countries.length - names.length}` : '';
  const places = countries.length === 0 ? 'Every country' : names.join(', ') + more;
  return zipPrefixes === '' ? places : `${places}, zip codes ${zipPrefixes}`;
}

/** "Leaves Mon, Tue or Wed, ordered before 12:00. Arrives 1 day later." */
export function describeDays({ kind, shipDays, cutOff, transitDays, deliveryDays }: MethodValues): string {
  const leaves = `${kind === 'pickup' ? 'Ready' : 'Leaves'} ${daysText(shipDays)}`;
  const before = cutOff === '' ? '' : `, on the same day if ordered before ${cutOff}`;
  const days = readNumber(transitDays, transitRules).value;
  if (kind === 'pickup' || days === null) {
    return `${leaves}${before}.`;
  }
  const isUsual = daysOf(deliveryDays, workdays) === null;
  const on = isUsual ? '' : ` (${daysText(deliveryDays)})`;
  const later =
    days === 0 ? 'Arrives on the same day' : `Arrives after ${days} delivery ${days === 1 ? 'day' : 'days'}`;
  return `${leaves}${before}. ${later}${on}.`;
}

/** What customers pay for some weights of goods: inside of each rate, and above the last. */
export function exampleCharges(values: MethodValues, packagingGrams: number): readonly string[] {
  const rates = parseRates(values);
  const packaging = values.kind === 'parcel' ? packagingGrams : 0;
  const goods = (grams: number) => showKilograms(grams / 1000);
  const lines = rates.flatMap(({ upToGrams, amount }) => {
    const grams = upToGrams - packaging;
    return grams <= 0 ? [] : [`Cheeses up to ${goods(grams)}: ${amount === 0 ? 'free' : showMoney(amount)}`];
  });
  const last = rates.at(-1);
  const freeFrom = readNumber(values.freeFrom, priceRules).value;
  return [
    ...(rates.length === 0 && values.kind === 'pickup' ? ['Free'] : lines),
    ...(last === undefined ? [] : [`Heavier orders: not by ${values.name.trim() || 'this method'}`]),
    ...(freeFrom === null || last === undefined
      ? []
      : [`Orders with cheeses for ${showMoney(freeFrom)} or more: free`]),
  ];
}

/** The texts of the form of a discount code, and what they say in words. */
import type { Body, Result } from '../../../../client/src/index.ts';
import {
  type NumberRules,
  priceRules,
  readNumber,
  writeNumber,
  writePrice,
} from '../../parts/fields/number.ts';
import { showMoney, showNumber, showShortTime } from '../../parts/text/format.ts';

export type Discount = Result<'getDiscount'>;

export const percentRules: NumberRules = { decimals: 0, min: 1, max: 100 };
export const usesRules: NumberRules = { decimals: 0, min: 1, max: 1_000_000_000 };

export interface DiscountValues {
  readonly code: string;
  readonly kind: Discount['kind'];
  readonly value: string;
  readonly from: string;
  readonly startsAt: string | null;
  readonly endsAt: string | null;
  readonly usesMax: string;
  readonly usesPerCustomer: string;
  readonly isEnabled: boolean;
}

export const discountLabels: Readonly<Record<keyof DiscountValues, string>> = {
  code: 'Code',
  kind: 'Kind',
  value: 'Value',
  from: 'From',
  startsAt: 'Begins',
  endsAt: 'Ends',
  usesMax: 'Uses by all together',
  usesPerCustomer: 'Uses by each customer',
  isEnabled: 'Customers can use it',
};

export const toDiscountValues = (discount: Discount | null): DiscountValues => ({
  code: discount?.code ?? '',
  kind: discount?.kind ?? 'percent',
  value: discount?.kind === 'amount' ? writePrice(discount.value) : writeNumber(discount?.value),
  from: writePrice(discount?.from),
  startsAt: discount?.startsAt ?? null,
  endsAt: discount?.endsAt ?? null,
  usesMax: writeNumber(discount?.usesMax),
  usesPerCustomer: writeNumber(discount?.usesPerCustomer),
  isEnabled: discount?.isEnabled ?? true,
});

export const chooseValueRules = (kind: DiscountValues['kind']) =>
  kind === 'percent' ? percentRules : priceRules;

export function findDiscountProblem(values: DiscountValues): string | null {
  const { code, kind, value, from, usesMax, usesPerCustomer } = values;
  const read = readNumber(value, chooseValueRules(kind));
  const numbers = [
    ...(kind === 'free_delivery' ? [] : [read]),
    readNumber(from, priceRules),
    readNumber(usesMax, usesRules),
    readNumber(usesPerCustomer, usesRules),
  ];
  return code.trim() === ''
    ? 'Write the code, such as SPRING.'
    : numbers.some(({ problem }) => problem !== null)
      ? 'Correct the numbers that are marked.'
      : kind !== 'free_delivery' && read.value === null
        ? 'Write how much the code takes off.'
        : null;
}

export function toDiscountBody(values: DiscountValues): Body<'createDiscount'> {
  const { code, kind, value, from, startsAt, endsAt, usesMax, usesPerCustomer, isEnabled } = values;
  return {
    code: code.trim(),
    kind,
    value: kind === 'free_delivery' ? null : readNumber(value, chooseValueRules(kind)).value,
    from: readNumber(from, priceRules).value,
    startsAt,
    endsAt,
    usesMax: readNumber(usesMax, usesRules).value,
    usesPerCustomer: readNumber(usesPerCustomer, usesRules).value,
    isEnabled,
  };
}

export const toDiscountPatch = (
  changes: Partial<DiscountValues>,
  values: DiscountValues,
): Body<'patchDiscount'> =>
  Object.fromEntries(Object.entries(toDiscountBody(values)).filter(([name]) => name in changes));

/** "10 % off", with "from €50.00 on". */
export function describeDiscount({
  kind,
  value,
  from,
}: Pick<DiscountValues, 'kind' | 'value' | 'from'>): string {
  const amount = readNumber(value, chooseValueRules(kind)).value;
  const least = readNumber(from, priceRules).value;
  const what =
    kind === 'free_delivery'
      ? 'Free delivery'
      : amount === null
        ? ''
        : `${kind === 'percent' ? `${showNumber(amount)} %` : showMoney(amount)} off`;
  return least === null || what === '' ? what : `${what}, from ${showMoney(least)} on`;
}

/** "3 of 100 used, 1 for each customer" */
export function describeUses({
  used,
  usesMax,
  usesPerCustomer,
}: Pick<Discount, 'used' | 'usesMax' | 'usesPerCustomer'>): string {
  const all =
    usesMax === null ? `${showNumber(used)} used` : `${showNumber(used)} of ${showNumber(usesMax)} used`;
  return usesPerCustomer === null ? all : `${all}, ${showNumber(usesPerCustomer)} for each customer`;
}

/** Whether a customer can use it now, or why not. */
export function describeState(
  { isEnabled, startsAt, endsAt, used, usesMax }: Discount,
  now = Date.now(),
): string {
  return !isEnabled
    ? 'off'
    : endsAt !== null && Date.parse(endsAt) <= now
      ? 'ended'
      : startsAt !== null && Date.parse(startsAt) > now
        ? `begins ${showShortTime(startsAt)}`
        : usesMax !== null && used >= usesMax
          ? 'used up'
          : endsAt === null
            ? 'on'
            : `on until ${showShortTime(endsAt)}`;
}

const sampleAmount = 100;

/** What a customer with cheeses for 100.00 gets, by the rule. */
export function describeDiscountExample(values: DiscountValues): string {
  const { kind, code, value, from } = values;
  const amount = readNumber(value, chooseValueRules(kind)).value;
  const goods = Math.max(sampleAmount, readNumber(from, priceRules).value ?? 0);
  const name = code.trim().toUpperCase() || 'the code';
  if (kind === 'free_delivery') {
    return `Cheeses for ${showMoney(goods)} with ${name}: the delivery is free.`;
  }
  if (amount === null) {
    return 'Write how much the code takes off.';
  }
  const cents = goods * 100;
  const off = kind === 'percent' ? Math.round((cents * amount) / 100) : Math.min(amount * 100, cents);
  return `Cheeses for ${showMoney(goods)} with ${name}: the customer pays ${showMoney(Math.round(cents - off) / 100)}, and delivery.`;
}

/** The parameters of lists of orders. */
import { countryRule } from '../../schema/countries.ts';
import { cursorParameter, int64, limitParameter } from '../../schema/parts.ts';
import type { Parameters, ParameterValues } from '../../schema/schema.ts';
import { lineRule, timestampRule } from '../../schema/text-rules.ts';
import { orderStatuses } from '../transitions/order-status.ts';
import type { OrderRequest } from './order-reader.ts';

const time = { type: 'string', rule: timestampRule, maxLength: 40 } as const;

export const orderListQuery = {
  cursor: cursorParameter(2000),
  limit: limitParameter('Orders on a page'),
  status: {
    type: 'array',
    items: { type: 'string', enum: orderStatuses },
    description: 'One status, or several with commas',
  },
  createdFrom: { ...time, description: 'Created then or later, for example `2026-01-01T00:00:00Z`' },
  createdBefore: { ...time, description: 'Created before then' },
} as const satisfies Parameters;

export const storeListQuery = {
  ...orderListQuery,
  customerId: {
    ...int64,
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Orders of this customer',
  },
  placedBy: {
    type: 'string',
    minLength: 1,
    maxLength: 120,
    rule: lineRule,
    description: 'Orders that this principal placed, for example `key:12`',
  },
  country: {
    type: 'string',
    rule: countryRule,
    description: 'Orders to this country, for example `CH`. Not together with `placedBy`',
  },
  cheeseId: {
    ...int64,
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Open orders (placed, approved or shipped) with this cheese',
  },
  needsApproval: {
    type: 'boolean',
    enum: [true],
    description: 'Placed orders that wait for an operator, because a cheese has no price',
  },
  late: {
    type: 'boolean',
    enum: [true],
    description: 'Approved orders whose estimated shipDate is in the past',
  },
  shipsToday: {
    type: 'boolean',
    enum: [true],
    description:
      'Approved orders whose estimated shipDate is today, in the time zone of the shop, or in the past',
  },
  sort: { type: 'string', enum: ['createdAt', '-createdAt'], description: 'Newest first by default' },
} as const satisfies Parameters;

/** What a list is asked for, from its query. */
export function toOrderRequest(query: ParameterValues<typeof storeListQuery>): OrderRequest {
  const { status, createdFrom, createdBefore, country, ...rest } = query;
  return {
    ...rest,
    statuses: status,
    country: country?.toUpperCase(),
    createdFrom: stored(createdFrom),
    createdBefore: stored(createdBefore),
  };
}

/**
 * Converts to the stored form of times. With an offset, a time of the first or last day can be in a year of another
 * length.
 */
function stored(moment: string | undefined): string | undefined {
  const text = moment === undefined ? undefined : new Date(moment).toISOString();
  if (text?.startsWith('-')) {
    return '0000-01-01T00:00:00.000Z';
  }
  return text?.startsWith('+') ? '9999-12-31T23:59:59.999Z' : text;
}

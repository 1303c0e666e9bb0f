/** Schemas of sales by category, country and customer. */
import { customerKinds } from '../orders/order-values.ts';
import { int64 } from '../schema/parts.ts';
import { asOf } from './schemas.ts';

const value = { type: 'number', description: 'In the currency of the shop' } as const;
const kilograms = { type: 'number', description: 'Pieces are counted by their weight' } as const;
const total = { orders: int64, value } as const;
const Turnover = { type: 'object', required: ['orders', 'value'], properties: total } as const;
const Amount = {
  type: 'object',
  required: ['kilograms', 'value'],
  properties: { kilograms, value },
} as const;

const CategorySale = {
  title: 'CategorySale',
  type: 'object',
  required: ['category', 'kilograms', 'value'],
  properties: {
    category: {
      type: ['string', 'null'],
      description: 'null for cheeses without a category, and for deleted cheeses',
    },
    ...Amount.properties,
  },
  examples: [{ category: 'Hard cheese', kilograms: 84, value: 2730 }],
} as const;

export const CategorySales = {
  title: 'CategorySales',
  type: 'object',
  required: ['items', 'total', 'asOf'],
  properties: {
    items: { type: 'array', items: CategorySale },
    total: { ...Amount, description: 'The sum of all categories' },
    asOf,
  },
  examples: [
    {
      items: CategorySale.examples,
      total: { kilograms: 84, value: 2730 },
      asOf: 'evt_k3Xw_1043',
    },
  ],
} as const;

const CountrySale = {
  title: 'CountrySale',
  type: 'object',
  required: ['country', 'orders', 'value'],
  properties: {
    country: { type: 'string', description: 'Of the shipping address, ISO 3166-1 alpha-2' },
    ...total,
  },
  examples: [{ country: 'CH', orders: 31, value: 2730 }],
} as const;

export const CountrySales = {
  title: 'CountrySales',
  type: 'object',
  required: ['items', 'total', 'asOf'],
  properties: {
    items: { type: 'array', items: CountrySale },
    total: { ...Turnover, description: 'The sum of all countries' },
    asOf,
  },
  examples: [{ items: CountrySale.examples, total: { orders: 31, value: 2730 }, asOf: 'evt_k3Xw_1043' }],
} as const;

const CustomerSale = {
  title: 'CustomerSale',
  type: 'object',
  required: ['customer', 'orders', 'value'],
  properties: {
    customer: {
      type: 'string',
      enum: customerKinds,
      description:
        '`new`: the first order of a customer, so there are as many new customers as orders. `returning`: all other orders of customers. `none`: orders of keys and applications without a customer',
    },
    ...total,
  },
  examples: [
    { customer: 'new', orders: 7, value: 530 },
    { customer: 'returning', orders: 20, value: 2000 },
    { customer: 'none', orders: 4, value: 200 },
  ],
} as const;

export const CustomerSales = {
  title: 'CustomerSales',
  type: 'object',
  required: ['items', 'total', 'asOf'],
  properties: {
    items: { type: 'array', items: CustomerSale },
    total: { ...Turnover, description: 'The sum of the three' },
    asOf,
  },
  examples: [{ items: CustomerSale.examples, total: { orders: 31, value: 2730 }, asOf: 'evt_k3Xw_1043' }],
} as const;

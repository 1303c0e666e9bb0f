/** Commands on discount codes and tax rates. */
import type { OperationCommand } from './operation.ts';

export const sellingOperations: readonly OperationCommand[] = [
  {
    name: 'discounts list',
    operation: 'listDiscounts',
    examples: ['discounts list'],
    columns: {
      code: 'code',
      kind: 'kind',
      value: 'value',
      from: 'from',
      starts: 'startsAt',
      ends: 'endsAt',
      used: 'used',
      of: 'usesMax',
      enabled: 'isEnabled',
    },
    none: 'There are no discount codes.',
  },
  { name: 'discounts show', operation: 'getDiscount', examples: ['discounts show SPRING'] },
  {
    name: 'discounts create',
    operation: 'createDiscount',
    takes: ['code', 'kind'],
    help: 'A percent or amount needs --value; free_delivery has none.',
    examples: [
      'discounts create SPRING percent --value 10 --from 50 --uses-max 100',
      'discounts create POST free_delivery --uses-per-customer 1',
    ],
  },
  {
    name: 'discounts change',
    operation: 'patchDiscount',
    help: 'What is not given stays, and none removes.',
    examples: ['discounts change SPRING --ends-at 2026-07-01T00:00:00Z --uses-max none'],
  },
  {
    name: 'discounts delete',
    operation: 'deleteDiscount',
    help: 'Orders keep their discount.',
    examples: ['discounts delete SPRING'],
    json: ({ code }) => ({ code, deleted: true }),
    says: (_, { code }) => `The code ${code} is deleted.`,
  },
  {
    name: 'tax-rates list',
    operation: 'listTaxRates',
    examples: ['tax-rates list --country US'],
    columns: {
      id: 'id',
      country: 'country',
      state: 'state',
      'ZIP prefix': 'zipPrefix',
      category: 'category',
      percent: 'percent',
      name: 'name',
    },
    none: 'There are no such tax rates.',
  },
  {
    name: 'tax-rates create',
    operation: 'createTaxRate',
    takes: ['percent', 'name'],
    help: 'Without a place it applies everywhere. A rate of a category counts before all rates of places.',
    examples: ['tax-rates create 2.6 MWST --country CH', 'tax-rates create 7.25 Tax --country US --state CA'],
  },
  {
    name: 'tax-rates change',
    operation: 'patchTaxRate',
    help: 'Where a rate applies cannot change: delete it, and create another one.',
    examples: ['tax-rates change 1 --percent 2.7'],
  },
  {
    name: 'tax-rates delete',
    operation: 'deleteTaxRate',
    help: 'Orders keep their taxes.',
    examples: ['tax-rates delete 1'],
    json: ({ rateId }) => ({ id: rateId, deleted: true }),
    says: (_, { rateId }) => `Tax rate ${rateId} is deleted.`,
  },
];

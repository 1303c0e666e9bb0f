/** What the store shows. */

const count = { type: 'integer', minimum: 0 } as const;

export const Inventory = {
  title: 'Inventory',
  description: 'Cheeses in the catalogue by status; all three are always there',
  type: 'object',
  required: ['available', 'pending', 'sold'],
  properties: { available: count, pending: count, sold: count },
} as const;

/** Schemas of values that several resources contain. */

export const int64 = { type: 'integer', format: 'int64' } as const;
export const timestampSchema = {
  type: 'string',
  format: 'date-time',
  examples: ['2026-01-15T09:30:00.000Z'],
} as const;
export const nullableTimestampSchema = { type: ['string', 'null'], format: 'date-time' } as const;

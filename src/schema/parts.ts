/** Schemas of values that several resources contain. */

export const int64 = { type: 'integer', format: 'int64' } as const;
export const timestampSchema = {
  type: 'string',
  format: 'date-time',
  examples: ['2026-01-15T09:30:00.000Z'],
} as const;
/** See `clockState`. */
export const clockSchema = {
  type: 'object',
  required: ['now', 'advancedBy'],
  properties: {
    now: timestampSchema,
    advancedBy: {
      type: 'string',
      description: 'How far it is ahead of the machine, a duration by ISO 8601; days have 24 hours',
      examples: ['P3D'],
    },
  },
} as const;
export const nullableTimestampSchema = { type: ['string', 'null'], format: 'date-time' } as const;

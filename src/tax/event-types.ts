/** Events of tax rates. */
import { defineEvent } from '../event-log/define.ts';
import { int64 } from '../schema/parts.ts';

const rate = {
  type: 'object',
  required: ['id', 'name', 'percent'],
  properties: { id: int64, name: { type: 'string' }, percent: { type: 'number' } },
  examples: [{ id: 1, name: 'MWST', percent: 2.6 }],
} as const;

/** Transitions of the subject `tax_rate:1`. */
export const rateCreated = defineEvent('tax_rate.created', 'A tax rate was created', rate);
export const rateChanged = defineEvent(
  'tax_rate.changed',
  'The percentage or the name of a tax rate was changed',
  rate,
);
export const rateDeleted = defineEvent('tax_rate.deleted', 'A tax rate was deleted', rate);

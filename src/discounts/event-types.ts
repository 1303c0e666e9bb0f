/** Events of discount codes. */
import { defineEvent } from '../event-log/define.ts';

const code = {
  type: 'object',
  required: ['code'],
  properties: { code: { type: 'string' } },
  examples: [{ code: 'SPRING' }],
} as const;

/** Transitions of the subject `discount:SPRING`. */
export const discountCreated = defineEvent('discount.created', 'A discount code was created', code);
export const discountChanged = defineEvent('discount.changed', 'A discount code was changed', {
  ...code,
  required: ['code', 'changed'],
  properties: {
    ...code.properties,
    changed: { type: 'array', items: { type: 'string' }, description: 'The changed members' },
  },
  examples: [{ code: 'SPRING', changed: ['endsAt'] }],
} as const);
export const discountDeleted = defineEvent('discount.deleted', 'A discount code was deleted', code);

/** Events of delivery methods. */
import { defineEvent } from '../event-log/define.ts';
import { int64 } from '../schema/parts.ts';

const named = {
  type: 'object',
  required: ['id', 'name'],
  properties: { id: int64, name: { type: 'string' } },
  examples: [{ id: 1, name: 'Cooled parcel' }],
} as const;

/** Transitions of the subject `delivery_method:1`. */
export const methodCreated = defineEvent('delivery_method.created', 'A delivery method was created', named);
export const methodChanged = defineEvent('delivery_method.changed', 'A delivery method was changed', {
  ...named,
  required: ['id', 'name', 'changed'],
  properties: {
    ...named.properties,
    changed: { type: 'array', items: { type: 'string' }, description: 'The changed members' },
  },
  examples: [{ id: 1, name: 'Cooled parcel', changed: ['rates'] }],
} as const);
export const methodDeleted = defineEvent('delivery_method.deleted', 'A delivery method was deleted', named);

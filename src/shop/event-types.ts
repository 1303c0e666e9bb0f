/** Events of the shop. */
import { defineEvent } from '../event-log/define.ts';

/** An event of the subject `shop`. It has no values, which can be names and addresses of persons. */
export const shopChanged = defineEvent('shop.changed', 'The owner changed what the shop is', {
  type: 'object',
  required: ['changed'],
  properties: {
    changed: {
      type: 'array',
      items: { type: 'string' },
      description: 'The changed members, such as `name` or `address.city`',
    },
  },
  examples: [{ changed: ['currency', 'address.city'] }],
});

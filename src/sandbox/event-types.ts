/** Events of the subject `shop`. */
import { defineEvent } from '../event-log/define.ts';

/** `curd reset` deleted everything before it. */
export const shopReset = defineEvent(
  'shop.reset',
  'The shop was reset: all cheeses, orders and customers were deleted',
  {
    type: 'object',
    required: [],
    properties: {},
    examples: [{}],
  },
);

/** Events that stand in the log for events that were removed from it. Readers pass their numbers like any others. */
import { defineEvent, type NewEvent } from './define.ts';

export const shopEventWithdrawn = defineEvent(
  'shop.event_withdrawn',
  'The event with this number was removed from the log',
  {
    type: 'object',
    required: [],
    properties: {},
    examples: [{}],
  },
);

/** The event that replaces another one. */
export function withdrawnEvent(): NewEvent {
  return shopEventWithdrawn.of('shop', {});
}

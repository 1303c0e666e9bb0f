/** Waits for the change of an order: a long poll with the ETag that the client has. */
import type { EventService } from '../event-log/reading/service.ts';
import type { Versioned } from '../versioned.ts';

/** Test orders and orders of deleted customers change without an event in the log: the order is read that often. */
const rereadMs = 1000;

export interface OrderWait {
  readonly id: number;
  readonly waitMs: number;
  /** Reads the order. It throws when the caller may not read it any more. */
  readonly read: () => Promise<Versioned>;
  /** Whether the client has this version. */
  readonly isKnown: (order: Versioned) => boolean;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** The order as soon as it differs from what the client has, or as it is when the time is over. */
export async function waitForOrder(
  events: Pick<EventService, 'resolve' | 'waitForEvents'>,
  { id, waitMs, read, isKnown, signal }: OrderWait,
): Promise<Versioned> {
  const deadline = performance.now() + waitMs;
  const filter = { types: ['order.*'], subject: `order:${id}`, isAdmin: false };
  for (;;) {
    // Read before the order: an event that is numbered later ends the wait.
    const lastEvent = await events.resolve('latest');
    const order = await read();
    const leftMs = deadline - performance.now();
    if (!isKnown(order) || leftMs <= 0 || signal.aborted) {
      return order;
    }
    await events.waitForEvents(lastEvent, filter, 1, Math.min(leftMs, rereadMs), signal);
  }
}

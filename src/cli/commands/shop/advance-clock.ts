import { systemClock, timestamp } from '../../../clock.ts';
import type { Context } from '../../../database/context.ts';
import type { Advanced } from '../../../sandbox/clock/advance.ts';
import type { ClockService } from '../../../sandbox/clock/service.ts';
import type { AdvanceRequest } from '../../../sandbox/clock/target.ts';
import { type ChangeOptions, makeChange } from '../../framework/change.ts';
import { pluralize } from '../../framework/output.ts';

/** Moves the time of the shop forward. */
export function advanceClock(request: AdvanceRequest, options: ChangeOptions): Promise<void> {
  return makeChange(options, async ({ sandbox: { clock } }, context) => {
    const advanced = await advanceFully(clock, context, request);
    const { now, did } = advanced;
    const value = { now: timestamp(now), did };
    return { value, text: [`It is ${value.now}.`, ...doneText(did)].join('\n') };
  });
}

/** Repeats the request if it stops early, under one name, so that it continues to the same target. */
async function advanceFully(
  clock: ClockService,
  context: Context,
  request: AdvanceRequest,
): Promise<Advanced> {
  const name = systemClock.uuid();
  let all: Advanced | undefined;
  do {
    const next: Advanced = await clock.advance(context, request, name);
    all = all === undefined ? next : { ...next, did: sum(all.did, next.did) };
  } while (all.more);
  return all;
}

function sum(one: Advanced['did'], other: Advanced['did']): Advanced['did'] {
  return {
    approved: one.approved + other.approved,
    cancelled: one.cancelled + other.cancelled,
    shipped: one.shipped + other.shipped,
    delivered: one.delivered + other.delivered,
    deliveries: one.deliveries + other.deliveries,
  };
}

function doneText({ approved, cancelled, shipped, delivered, deliveries }: Advanced['did']): string[] {
  const parts = [
    [approved, 'approved'],
    [cancelled, 'cancelled'],
    [shipped, 'shipped'],
    [delivered, 'delivered'],
  ] as const;
  const orders = parts
    .filter(([count]) => count > 0)
    .map(([count, status]) => `${pluralize(count, 'order')} ${status}`);
  return [...orders, ...(deliveries > 0 ? [`${pluralize(deliveries, 'webhook request')} sent`] : [])];
}

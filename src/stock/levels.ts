/** What follows from a change of quantities: its events, and the job that changes the status of the cheese. */
import type { Context } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { gramsToKilograms } from '../decimal.ts';
import type { EventData } from '../event-log/define.ts';
import { recordEvents } from '../event-log/record.ts';
import { jobQueue } from '../jobs/queue.ts';
import { stockEvents } from './event-types.ts';
import type { Levels } from './queries.ts';

/** The kind of the jobs that apply the rule in status-job.ts; their keys are ids of cheeses. */
export const statusKind = 'stock.status';

type Reason = EventData<typeof stockEvents.adjusted>['reason'];

/** The levels of a cheese before and after a change. */
export interface LevelChange {
  /** null: the cheese was not tracked, so it could be sold without limit. */
  readonly before: Levels | null;
  readonly after: Levels;
  /** null for changes by orders, which have the events of the order. */
  readonly adjusted: { readonly delta: number; readonly reason: Reason } | null;
}

/** Grams that new orders can have. */
export function countAvailable({ on_hand, reserved }: Pick<Levels, 'on_hand' | 'reserved'>): number {
  return on_hand - reserved;
}

/** The quantities in kilograms, as in responses and events. */
export function toKilograms(levels: Levels) {
  const { on_hand, reserved, low_at } = levels;
  return {
    onHand: gramsToKilograms(on_hand),
    reserved: gramsToKilograms(reserved),
    available: gramsToKilograms(countAvailable(levels)),
    lowAt: low_at === null ? null : gramsToKilograms(low_at),
  };
}

/** Whether no order fits. */
export function isDepleted(levels: Levels): boolean {
  return countAvailable(levels) < levels.smallest;
}

export function isLow(levels: Levels): boolean {
  return levels.low_at !== null && countAvailable(levels) <= levels.low_at;
}

/** Records the events of changes, and adds the jobs of cheeses whose available grams have become too few for an order, or enough again. */
export async function recordLevelChanges(
  tx: Sql,
  { origin }: Context,
  now: string,
  changes: readonly LevelChange[],
): Promise<void> {
  const crossed = changes.filter(
    ({ before, after }) => (before !== null && isDepleted(before)) !== isDepleted(after),
  );
  if (crossed.length > 0) {
    // The rows of jobs need no order, because a transaction locks the stock of their cheeses first.
    await jobQueue(tx).schedule(
      statusKind,
      crossed.map(({ after }) => String(after.cheese_id)),
      now,
    );
  }
  await recordEvents(tx, origin, now, changes.flatMap(eventsOf));
}

function eventsOf({ before, after, adjusted }: LevelChange) {
  const cheeseId = after.cheese_id;
  const { onHand, reserved, available, lowAt } = toKilograms(after);
  const subject = `stock:${cheeseId}`;
  const becomes = (isTrue: (levels: Levels) => boolean) =>
    isTrue(after) && !(before !== null && isTrue(before));
  return [
    ...(adjusted === null
      ? []
      : [
          stockEvents.adjusted.of(subject, {
            cheeseId,
            onHand,
            reserved,
            available,
            deltaKg: gramsToKilograms(adjusted.delta),
            reason: adjusted.reason,
          }),
        ]),
    ...(becomes(isLow) ? [stockEvents.low.of(subject, { cheeseId, available, lowAt })] : []),
    ...(becomes(isDepleted) ? [stockEvents.depleted.of(subject, { cheeseId, available, lowAt })] : []),
  ];
}

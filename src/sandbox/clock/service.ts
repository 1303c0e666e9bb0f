/** The clock of the shop, as the API and the command line show and move it. */

import { hash } from 'node:crypto';
import type { XStatic } from 'typebox/schema';
import { type Clock, clockState, timestamp } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import type { Database } from '../../database/database.ts';
import { purgeInSlices } from '../../database/purge.ts';
import { AppError, validationError } from '../../errors.ts';
import { idempotencyHours } from '../../stored-responses/store.ts';
import { type AdvanceDependencies, type Advanced, advanceTo } from './advance.ts';
import { withAdvanceLease } from './advance-lease.ts';
import { forecast, type JobsBy } from './forecast.ts';
import { isMovable, type MovableClock } from './movable-clock.ts';
import { clockQueries } from './queries.ts';
import type { SandboxClock } from './schemas.ts';
import { type AdvanceRequest, parseTarget, type Target, toTargetTime } from './target.ts';

const lifetimeMs = idempotencyHours * 60 * 60 * 1000;

export type ClockState = XStatic<typeof SandboxClock>;

interface Dependencies extends Omit<AdvanceDependencies, 'clock' | 'isStopped'> {
  readonly clock: Clock;
  readonly jobsBy: JobsBy;
}

export type ClockService = ReturnType<typeof createClockService>;

export function createClockService(dependencies: Dependencies) {
  const { database, clock, jobsBy } = dependencies;
  let isStopped = false;

  return {
    read: (): ClockState => stateOf(clock),

    /**
     * Moves the clock, and runs what becomes due. A dry run lists the transitions of orders.
     * @param name of the request, if it has an Idempotency-Key: the same request continues to the same target
     * @throws AppError validation, conflict, unavailable
     */
    async advance(context: Context, request: AdvanceRequest, name: string | null): Promise<Advanced> {
      const movable = requireMovable(clock);
      if (context.origin.effects !== null) {
        const target = toTargetTime(parseTarget(request, movable), movable);
        return context.transaction(async (tx) => {
          await forecast(tx, context, clock, jobsBy, target);
          return { now: clock.now(), did: nothing, more: false };
        });
      }
      if (name === null) {
        // Refused before it waits for others. The time of a request with a name may have passed since its first attempt.
        parseTarget(request, movable);
      }
      const stopped = () => isStopped;
      return withAdvanceLease(database, movable, stopped, async (lease) => {
        const stored = await storedTarget(database, clock, request, name);
        const advanced = await advanceTo(
          { ...dependencies, clock: movable, isStopped: stopped },
          lease,
          stored,
        );
        // Stores the response, dated with the time that was reached.
        return context.transaction(async () => advanced);
      });
    },

    /** Deletes the targets of requests whose stored responses have expired. Returns whether some are left. */
    purge: (): Promise<boolean> =>
      purgeInSlices(database, (tx, limit) =>
        clockQueries(tx).deleteExpiredTargets(timestamp(clock.now()), limit),
      ),

    /** Ends an advance at the time that it has reached. */
    stop() {
      isStopped = true;
    },
  };
}

/** @throws AppError conflict */
function requireMovable(clock: Clock): MovableClock {
  if (!isMovable(clock)) {
    throw new AppError(
      'conflict',
      'The clock of this shop is that of the machine. Start the server with CURD_CLOCK=movable to move it, which production does not permit.',
    );
  }
  return clock;
}

const nothing = { approved: 0, cancelled: 0, shipped: 0, delivered: 0, deliveries: 0 } as const;

function stateOf(clock: Clock): ClockState {
  const state = clockState(clock);
  // A second reading could be a millisecond later, and a clock that was not moved would differ from the machine's.
  const system = timestamp(Date.parse(state.now) - clock.advancedMs());
  return { ...state, system, movable: isMovable(clock) };
}

/** The target of a request, which is stored with its key before anything is done. @throws AppError validation */
async function storedTarget(
  database: Database,
  clock: Clock,
  request: AdvanceRequest,
  name: string | null,
): Promise<Target> {
  if (name === null) {
    return parseTarget(request, clock);
  }
  const id = hash('sha256', name);
  const text = JSON.stringify([request.advance ?? null, request.to ?? null]);
  const known = await clockQueries(database).findTarget(id, timestamp(clock.now()));
  if (known !== undefined) {
    if (known.advance !== text) {
      throw validationError([
        { field: '', message: 'this Idempotency-Key was used for another request: send a new one' },
      ]);
    }
    return request.to === undefined ? { advancedMs: known.target } : { time: known.target };
  }
  const target = parseTarget(request, clock);
  const value = 'time' in target ? target.time : target.advancedMs;
  const expiresAt = timestamp(toTargetTime(target, clock) + lifetimeMs);
  await clockQueries(database).upsertTarget(id, text, value, expiresAt);
  return target;
}

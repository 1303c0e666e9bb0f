/**
 * Limits the work of dry runs. A dry run of a deletion makes and rolls back every change that depends on it, and on
 * SQLite all other changes wait meanwhile: 3,000 cancelled orders take 0.2 to 0.4 seconds. Repeated, it would delay
 * every order. So the caller waits for each change before the next dry run of the same operation.
 *
 * Each process counts in memory. On SQLite there is one; on PostgreSQL other orders do not wait for a dry run.
 */
import type { Clock } from '../clock.ts';
import type { DryRunLimit } from '../database/dry-run.ts';
import { AppError } from '../errors.ts';
import { createGenerationalCache } from './generational-cache.ts';

/** Limit of one caller and operation: about a tenth of the time of SQLite's writer. */
export const dryRunChangesPerSecond = 500;
const changeMs = 1000 / dryRunChangesPerSecond;
/** Changes of each dry run that are not counted, so that quotes and changes of one thing never wait. */
const dryRunChangesFree = 20;
const waitMaxMs = 60 * 60_000;
/** Callers and operations whose dry runs wait. */
const namesMax = 5000;

interface Debt {
  /** The time until which the changes of earlier dry runs count. */
  readonly until: number;
  /** The dry run that made the last of them. It may continue. */
  readonly run: DryRunLimit;
}

/** Returns a function that makes the limit of one dry run. It throws if an earlier one still counts. */
export function createDryRunLimits(
  clock: Clock,
  onRefusal: () => void,
): (subject: string, operationId: string) => DryRunLimit {
  const debts = createGenerationalCache<Debt>(namesMax, waitMaxMs, clock);

  function refusal(waitMs: number): AppError {
    onRefusal();
    const state = { limit: dryRunChangesPerSecond, windowSeconds: 1, remaining: 0, resetMs: waitMs };
    return new AppError(
      'rateLimited',
      `Earlier dry runs of this operation have tried many changes, and ${dryRunChangesPerSecond} a second are permitted. Wait as long as Retry-After says. A real request does not wait.`,
      {
        details: {
          retryAfterMs: waitMs,
          limits: [{ policy: 'dry-run', ...state }],
          readAt: clock.now(),
          refusedBy: 'dryRun',
        },
      },
    );
  }

  return (subject, operationId) => {
    const name = `${operationId} ${subject}`;
    let changes = 0;

    function requireFree(): void {
      const debt = debts.get(name);
      const waitMs = (debt?.until ?? 0) - clock.now();
      // A clock that was set back must not make anyone wait longer.
      if (debt !== undefined && debt.run !== limit && waitMs > 0 && waitMs <= waitMaxMs) {
        throw refusal(waitMs);
      }
    }

    const limit: DryRunLimit = {
      begin() {
        changes = 0;
        requireFree();
      },
      count(more) {
        const counted = Math.min(more, Math.max(0, changes + more - dryRunChangesFree));
        changes += more;
        if (counted > 0) {
          // Several dry runs can begin before the first one has made its changes.
          requireFree();
          const now = clock.now();
          const from = Math.max(now, debts.get(name)?.until ?? 0);
          debts.set(name, { until: Math.min(from + counted * changeMs, now + waitMaxMs), run: limit });
        }
      },
    };
    requireFree();
    return limit;
  };
}

/**
 * Group commit: changes that arrive while a transaction runs wait, and share the next one. If a change fails, the others
 * of its group run again, each in a savepoint.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { unavailable } from '../errors.ts';
import type { Sql } from './database.ts';

/**
 * The number of groups that use savepoints after a failed change. They cost an eighth of the CPU time of an order on
 * SQLite, and a round trip for each change on PostgreSQL. Without them, the other changes of a group with a failed one
 * run twice.
 */
const groupsWithSavepoints = 16;

export type Work = (sql: Sql) => Promise<unknown>;

/** The result of one change of a group that was committed. A change with an error was rolled back. */
export type ChangeOutcome = { readonly value: unknown } | { readonly error: unknown };

export interface Groups {
  /**
   * Resolves or rejects after the end of the group, because an error may come from rows of another change.
   * @param order changes of a group run in ascending order, and in the order of arrival if it is equal
   */
  add<T>(work: (sql: Sql) => Promise<T>, order?: number): Promise<T>;
  /** How many changes wait for their group. */
  waiting(): number;
  /** Resolves when no group runs. */
  ended(): Promise<void>;
}

interface Change {
  readonly work: Work;
  readonly order: number;
  readonly arrivedAt: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface GroupSettings {
  readonly sizeMax: number;
  /** A change that has waited longer for its group is refused. */
  readonly waitMs?: number;
  /**
   * Runs changes in one transaction, and resolves when the commit is on disk. Returns the outcomes of as many of the first
   * changes as it has run; the others are the next group. Null: one has failed after others, and all were rolled back,
   * because they had no savepoints. If it rejects, all changes are rejected with the error.
   */
  readonly commit: (
    works: readonly Work[],
    hasSavepoints: boolean,
  ) => Promise<readonly ChangeOutcome[] | null>;
}

/** One group is committed at a time. */
export function createGroupCommit({ sizeMax, waitMs = Infinity, commit }: GroupSettings): Groups {
  const queue: Change[] = [];
  /** How many of the next groups use savepoints. */
  let savepointGroups = 0;
  let flushing: Promise<void> | undefined;

  async function flush(): Promise<void> {
    // One turn of the event loop later, every request that has arrived is in the group.
    await nextTurn();
    while (queue.length > 0) {
      const group = queue.splice(0, sizeMax).filter(isInTime);
      if (group.length > 0) {
        await runGroup(group.toSorted((a, b) => a.order - b.order));
      }
    }
    // Set in the same turn as the check of the queue: a change that arrives later starts another flush.
    flushing = undefined;
  }

  function isInTime({ arrivedAt, reject }: Change): boolean {
    const isLate = performance.now() - arrivedAt > waitMs;
    if (isLate) {
      reject(unavailable('Too many changes are waiting for the database. Try again shortly.', 2));
    }
    return !isLate;
  }

  async function runGroup(group: readonly Change[]): Promise<void> {
    let rest = group;
    try {
      while (rest.length > 0) {
        const outcomes = await commitGroup(rest.map(({ work }) => work));
        if (outcomes.length === 0) {
          throw new Error('The adapter ran none of the changes of a group.');
        }
        for (const [index, outcome] of outcomes.entries()) {
          const { resolve, reject } = rest[index] as Change;
          if ('error' in outcome) {
            reject(outcome.error);
          } else {
            resolve(outcome.value);
          }
        }
        // They run before changes that arrived later, so that none of a lower order can delay them again and again.
        rest = rest.slice(outcomes.length);
      }
    } catch (error) {
      for (const { reject } of rest) {
        reject(error);
      }
    }
  }

  async function commitGroup(works: readonly Work[]): Promise<readonly ChangeOutcome[]> {
    if (works.length > 1 && savepointGroups > 0) {
      savepointGroups -= 1;
    } else {
      const outcomes = await commit(works, false);
      if (outcomes !== null) {
        return outcomes;
      }
      savepointGroups = groupsWithSavepoints;
    }
    return (await commit(works, true)) ?? [];
  }

  return {
    add: <T>(work: (sql: Sql) => Promise<T>, order = 0) =>
      new Promise<T>((resolve, reject) => {
        const arrivedAt = performance.now();
        queue.push({ work, order, arrivedAt, resolve: resolve as (value: unknown) => void, reject });
        flushing ??= flush();
      }),
    waiting: () => queue.length,
    async ended() {
      await flushing;
    },
  };
}

/** The first change, and those that begin within `ms`, so that the first ones do not wait long for the others. */
export function* untilLate(works: readonly Work[], ms: number): Generator<Work> {
  const until = performance.now() + ms;
  for (const [index, work] of works.entries()) {
    if (index > 0 && performance.now() >= until) {
      return;
    }
    yield work;
  }
}

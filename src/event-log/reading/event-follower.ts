/**
 * Follows the event log: reads it page by page from a stored position, and stores what follows from a page together with
 * the next position. So no change waits for it, and each event is handled once, by whichever instance moves the position.
 *
 * A position is a number of this database, so a backup and a standby have what was made of the log up to it. What is
 * outside of the database, such as a cache, needs a position with its epoch (edge/purger.ts).
 */
import { isDeepStrictEqual } from 'node:util';
import type { Database, Sql } from '../../database/database.ts';
import type { Loops } from '../../jobs/loops.ts';
import { RepeatedWork } from '../../jobs/repeated-work.ts';
import type { Log } from '../../log.ts';

/**
 * Shorter would cost more: to wait for events, a process reads each of them after its commit, and on SQLite looks for
 * commits of other processes ten times a second.
 */
const intervalMs = 2000;

export interface EventFollower<Position, Page> {
  readonly name: string;
  /** Said in the log if a page cannot be handled. */
  readonly failure: string;
  /** null before the first page. */
  findPosition(sql: Sql): Promise<Position | null>;
  /** Stores the first position, unless another instance has. */
  begin(tx: Sql): Promise<void>;
  /** Reads the page after a position, and what storing it needs. Outside of a transaction. null at the end of the log. */
  read(sql: Sql, position: Position): Promise<{ readonly page: Page; readonly next: Position } | null>;
  /** null while another instance has it locked. */
  lockPosition(tx: Sql): Promise<Position | null>;
  /** Stores the page and the next position. */
  store(tx: Sql, page: Page, next: Position, before: Position): Promise<void>;
  /** Called after the commit of a page. */
  onStored?(page: Page): void;
}

/** Handles a page. Returns whether to continue at once: not at the end, or if another instance handles the same page. */
async function followPage<Position, Page>(
  database: Database,
  follower: EventFollower<Position, Page>,
): Promise<boolean> {
  const position = await follower.findPosition(database);
  if (position === null) {
    await database.transaction((tx) => follower.begin(tx));
    return true;
  }
  const found = await follower.read(database, position);
  if (found === null) {
    return false;
  }
  const { page, next } = found;
  const isStored = await database.transaction(async (tx) => {
    if (!isDeepStrictEqual(await follower.lockPosition(tx), position)) {
      return false;
    }
    await follower.store(tx, page, next, position);
    return true;
  });
  if (isStored) {
    follower.onStored?.(page);
  }
  return isStored;
}

/** Handles all events until now. */
export async function followToEnd<Position, Page>(
  database: Database,
  follower: EventFollower<Position, Page>,
  isStopped = () => false,
): Promise<void> {
  while (!isStopped() && (await followPage(database, follower))) {}
}

interface Dependencies {
  readonly database: Database;
  readonly log: Pick<Log, 'error'>;
  readonly loops: Loops;
}

/** Handles new events every two seconds, after `start`. */
export function createFollowing<Position, Page>(
  { database, log, loops }: Dependencies,
  follower: EventFollower<Position, Page>,
): RepeatedWork {
  /** Version of the database after the last page: nothing has changed while it is the same. */
  let examined: number | null = null;
  return new RepeatedWork({
    loops,
    name: follower.name,
    everyMs: intervalMs,
    run: async (isStopped) => {
      const version = database.dataVersion();
      if (version === null || version !== examined) {
        await followToEnd(database, follower, isStopped);
        examined = version;
      }
    },
    onError: (error) => log.error({ err: error }, follower.failure),
  });
}

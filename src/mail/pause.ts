/**
 * A copied or restored shop sends no mails until an operator confirms it: the shop that it comes from may run too, and
 * its customers would get each mail twice.
 */
import { readBlocks } from '../blocks.ts';
import type { Clock } from '../clock.ts';
import type { Database, Sql } from '../database/database.ts';
import { dropMails } from './jobs.ts';
import { mailQueries } from './queries.ts';

const blockSize = 500;

/** Mails wait from now on. */
export async function pauseMails(tx: Sql): Promise<void> {
  await mailQueries(tx).updatePaused(true);
}

/** No mails are made of the events until now. */
export async function skipEvents(tx: Sql): Promise<void> {
  await mailQueries(tx).updatePosition(null);
}

/** A shop was reset, or restored from a snapshot: nothing that waited in it is sent, and mails begin with the next event. */
export async function forgetMails(tx: Sql, now: number): Promise<void> {
  await skipEvents(tx);
  for await (const block of readBlocks((after) => mailQueries(tx).listWaiting(after, blockSize))) {
    await dropMails(tx, block, 'the shop was restored from a snapshot', now);
  }
}

export type MailPause = ReturnType<typeof createMailPause>;

export function createMailPause(database: Database, clock: Clock) {
  const isPaused = async () => (await mailQueries(database).findReader())?.is_paused === 1;

  return {
    isPaused,

    /** Sends what waits. Returns whether mails were paused. */
    resume: (): Promise<boolean> =>
      database.transaction(async (tx) => {
        const isChanged = (await mailQueries(tx).lockReader())?.is_paused === 1;
        await mailQueries(tx).updatePaused(false);
        return isChanged;
      }),

    /** Drops what waits, and sends the mails of later events. Returns how many were dropped. */
    async discard(): Promise<number> {
      await database.transaction(skipEvents);
      let dropped = 0;
      for await (const block of readBlocks((after) => mailQueries(database).listWaiting(after, blockSize))) {
        const ended = await database.transaction((tx) =>
          dropMails(tx, block, 'discarded by an operator', clock.now()),
        );
        dropped += ended.length;
      }
      await database.transaction((tx) => mailQueries(tx).updatePaused(false));
      return dropped;
    },
  };
}

/**
 * Cache purge: follows the changes of the catalogue, and purges what they make stale from a cache. Each tag is purged
 * twice. A response that was read before a change can reach the cache after the first purge; the second one removes it.
 * The stored position moves after the second purge, so a purger that was killed purges again what it may not have purged
 * twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CheeseService } from '../cheeses/service.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { AppError } from '../errors.ts';
import type { EventPage } from '../event-log/reading/event-filter.ts';
import type { EventService } from '../event-log/reading/service.ts';
import { everythingTag } from '../http/responses/public-response.ts';
import type { Log } from '../log.ts';
import { changedTags, staleFilter } from './changed-tags.ts';
import { type PurgeTarget, purgeTags } from './purge-request.ts';
import { purgerQueries } from './queries.ts';

/** Changes within this time are purged together. */
const batchMs = 100;
const batchEvents = 500;
/**
 * When each purge is repeated. Until then, no response from before a change is on its way: a server makes none public that
 * took longer than a second (http/responses/public-response.ts), and deploy/varnish.vcl waits 4 seconds for its bytes.
 */
const repeatedAfterMs = 5000;
const waitMs = 5000;
const failurePauseMs = 1000;
const otherHistory = 'the shop was restored, copied or reset';

interface Place {
  readonly position: string;
  readonly epoch: string;
}

/** A batch that was purged once. */
interface PurgedBatch extends Place {
  readonly tags: ReadonlySet<string>;
  /** A value of performance.now(). */
  readonly repeatAt: number;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly events: Pick<EventService, 'resolve' | 'findEpoch' | 'list' | 'waitForEvents'>;
  readonly cheeses: Pick<CheeseService, 'findIfThere' | 'findCategoryIds'>;
}

/** Purges until `signal` aborts. It starts where it stopped, and the first time with the present. */
export async function runPurger(
  { database, clock, log, events, cheeses }: Dependencies,
  target: PurgeTarget,
  signal: AbortSignal,
  repeatMs = repeatedAfterMs,
): Promise<void> {
  const purge = (tags: Iterable<string>) => purgeTags(target, tags, log, signal);
  let purgedOnce: PurgedBatch[] = [];
  let stored = '';

  /** Purges the whole shop, and continues with the present. */
  async function startAgain(reason: string): Promise<Place> {
    const place = await events.list(await events.resolve('latest'), staleFilter, 1);
    log.info({ url: target.url, reason }, 'all cached responses are purged');
    await purge([everythingTag]);
    purgedOnce = [
      { ...placeOf(place), tags: new Set([everythingTag]), repeatAt: performance.now() + repeatMs },
    ];
    return placeOf(place);
  }

  async function readPage({ position, epoch }: Place): Promise<EventPage | string> {
    const dueMs = (purgedOnce[0]?.repeatAt ?? Number.POSITIVE_INFINITY) - performance.now();
    try {
      // Resolved each time: after a failover of the database, the log may have another history.
      const after = await events.resolve(position);
      if ((await events.findEpoch()) !== epoch) {
        return otherHistory;
      }
      const leftMs = Math.max(0, Math.min(waitMs, dueMs));
      const page = await events.waitForEvents(after, staleFilter, batchEvents, leftMs, signal);
      return page.epoch === epoch ? page : otherHistory;
    } catch (error) {
      if (error instanceof AppError && ['logRewound', 'eventsExpired', 'badRequest'].includes(error.code)) {
        return 'the event log does not have the changes since the last purge';
      }
      throw error;
    }
  }

  async function purgePage(page: EventPage): Promise<void> {
    if (page.items.length > 0) {
      const startedAt = performance.now();
      const tags = await changedTags(page.items, cheeses);
      await purge(tags);
      purgedOnce.push({ ...placeOf(page), tags, repeatAt: performance.now() + repeatMs });
      await sleep(Math.max(0, batchMs - (performance.now() - startedAt)), undefined, { signal }).catch(
        () => {},
      );
    }
  }

  /** Purges again what is due, and stores up to where all is purged twice. */
  async function repeatDue(place: Place): Promise<void> {
    const now = performance.now();
    const due = purgedOnce.filter(({ repeatAt }) => repeatAt <= now);
    await purge(new Set(due.flatMap(({ tags }) => [...tags])));
    if (!signal.aborted) {
      purgedOnce = purgedOnce.slice(due.length);
      const done = purgedOnce.length === 0 ? place : due.at(-1);
      if (done !== undefined && done.position !== stored) {
        await store(done);
      }
    }
  }

  async function store({ position, epoch }: Place): Promise<void> {
    const row = { purge_url: target.url, position, epoch, updated_at: timestamp(clock.now()) };
    await database.transaction((tx) => purgerQueries(tx).store(row));
    stored = position;
  }

  let place: Place | null = (await purgerQueries(database).find(target.url)) ?? null;
  while (!signal.aborted) {
    try {
      place ??= await startAgain('this cache was not purged before');
      const page = await readPage(place);
      if (typeof page === 'string') {
        place = await startAgain(page);
      } else {
        await purgePage(page);
        place = placeOf(page);
      }
      await repeatDue(place);
    } catch (error) {
      log.error({ err: error }, 'the purger could not read the changes; it tries again');
      await sleep(failurePauseMs, undefined, { signal }).catch(() => {});
    }
  }
}

const placeOf = ({ next, epoch }: EventPage): Place => ({ position: next, epoch });

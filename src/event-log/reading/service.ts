/** Reads the event log: pages of events, one event, and positions. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Principal } from '../../access/principal.ts';
import type { Database, Sql } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { eventLogQueries } from '../log-queries.ts';
import {
  adminTypes,
  createMatcher,
  type EventFilter,
  type EventMatcher,
  type EventPage,
  pageAfter,
  toPageEnd,
} from './event-filter.ts';
import type { EventHub } from './hub.ts';
import { readLogState, toEvent, toItem } from './log-reader.ts';
import { expired, type LogState, parseEventId, parsePosition, positionAt, toSequence } from './positions.ts';

/** A request examines at most so many events, whether they match or not. */
const examinedMax = 5000;
/** Read at once, without their data. */
const headsMax = 1000;
/** Data of the events of one page. */
const pageBytesMax = 4 * 1024 * 1024;
/** Clocks of instances differ: times of events may run against their numbers by that much. */
const clockSkewMs = 60_000;

/** An event without its data. */
export interface EventHead {
  readonly sequence: number;
  readonly id: string;
  readonly type: string;
  readonly subject: string;
}

/** @returns whether a principal sees all types of events */
export function seesAllEvents({ scopes }: Principal): boolean {
  return scopes.has('admin');
}

export type EventService = ReturnType<typeof createEventService>;

export function createEventService(database: Database, hub: EventHub) {
  const queries = eventLogQueries(database);

  const readState = () => readLogState(database);

  async function sequenceAtTime(at: string, { first, last }: LogState): Promise<number> {
    const early = new Date(Date.parse(at) - clockSkewMs).toISOString();
    let low = first;
    let high = last + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = await queries.findEvent(middle);
      if (row !== undefined && row.created_at < early) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const row = await queries.findFirstSince(low, at);
    return (row?.sequence ?? last + 1) - 1;
  }

  async function list(
    after: number,
    filter: EventFilter,
    limit: number,
    bytesMax = pageBytesMax,
  ): Promise<EventPage> {
    const page = pageAfter(after, filter, limit, bytesMax);
    let examined = 0;
    let hasMore = false;
    for (let isEnd = false; !isEnd && !hasMore; ) {
      // The first read is enough when there is no filter.
      const count = Math.min(examined === 0 ? limit + 1 : headsMax, examinedMax - examined);
      const heads = await queries.listHeads(page.nextSequence(), count);
      examined += heads.length;
      isEnd = heads.length < count;
      hasMore =
        !heads.every(({ sequence, type, subject, bytes }) => page.add(sequence, type, subject, bytes)) ||
        (!isEnd && examined === examinedMax);
    }
    const rows = page.sequences.length === 0 ? [] : await queries.listEvents(page.sequences);
    const { first, last, epochs } = await readState();
    if (after < first - 1) {
      // Expired since the position was resolved: some of these events may have been deleted before they were read.
      throw expired({ first, last, epochs });
    }
    const items = rows.map((row) => toItem(row, epochs));
    return { items, ...toPageEnd(page.nextSequence(), epochs), hasMore };
  }

  /**
   * Works like `list`, but from memory if the events are there. Readers that wait use it: it may not have the newest yet.
   */
  async function listWaiting(
    after: number,
    filter: EventFilter,
    limit: number,
    bytesMax = pageBytesMax,
  ): Promise<EventPage> {
    const tail = hub.tailAfter(after);
    if (tail === null) {
      return list(after, filter, limit, bytesMax);
    }
    const page = pageAfter(after, filter, limit, bytesMax);
    const isWhole = tail.events.every(({ sequence, type, subject, text }) =>
      page.add(sequence, type, subject, text.length),
    );
    const chosen = new Set(page.sequences);
    const items = tail.events.filter(({ sequence }) => chosen.has(sequence));
    return { items, ...toPageEnd(page.nextSequence(), tail.epochs), hasMore: !isWhole };
  }

  /** @throws AppError logRewound if an epoch began meanwhile, and the earlier position is not in the log any more */
  async function requireSameHistory(earlier: EventPage | null, page: EventPage): Promise<void> {
    if (earlier !== null && earlier.epoch !== page.epoch) {
      toSequence(parseEventId(earlier.next) ?? { epoch: '', sequence: 0 }, await readState());
    }
  }

  return {
    /** The number after which the events of a position come. @throws AppError badRequest, logRewound, eventsExpired */
    async resolve(text: string): Promise<number> {
      const position = parsePosition(text, 'since');
      const state = await readState();
      switch (position.kind) {
        case 'earliest':
          return state.first - 1;
        case 'latest':
          return state.last;
        case 'time':
          return sequenceAtTime(position.at, state);
        case 'id':
          return toSequence(position, state);
      }
    },

    /** The name of the newest epoch. */
    findEpoch: async (): Promise<string> => (await queries.listEpochs()).at(-1)?.name ?? '',

    /** Events after a number, up to `limit`. */
    list,

    /**
     * Page after page, without an end: the caller waits in between. A page may be empty.
     * @throws AppError eventsExpired, logRewound if the position is not in the log any more
     */
    async *follow(after: number, filter: EventFilter, limit: number, bytesMax: number) {
      let page: EventPage | null = null;
      for (let from = after; ; from = page.nextSequence) {
        const next: EventPage = await listWaiting(from, filter, limit, bytesMax);
        await requireSameHistory(page, next);
        page = next;
        yield page;
      }
    },

    /** Works like `list`, but waits for a match up to `waitMs`. */
    async waitForEvents(
      after: number,
      filter: EventFilter,
      limit: number,
      waitMs: number,
      signal?: AbortSignal,
    ) {
      const deadline = performance.now() + waitMs;
      // The first page has all events that are committed; the tail may be older.
      let page = await list(after, filter, limit);
      for (;;) {
        const leftMs = deadline - performance.now();
        if (page.items.length > 0 || page.hasMore || leftMs <= 0 || signal?.aborted) {
          return page;
        }
        if (!(await hub.wait(page.nextSequence, leftMs, signal))) {
          return page;
        }
        const next = await listWaiting(page.nextSequence, filter, limit);
        await requireSameHistory(page, next);
        page = next;
      }
    },

    /**
     * The first `max` events after a number and up to another that match, without their data.
     * @param examinedMax null is returned if there are more events between the two numbers
     */
    async listHeads(after: number, until: number, matches: EventMatcher, max: number, eventsMax: number) {
      if (until - after > eventsMax) {
        return null;
      }
      const { epochs } = await readState();
      const found: EventHead[] = [];
      for (let from = after; from < until && found.length < max; ) {
        const heads = await queries.listHeads(from, examinedMax);
        for (const { sequence, type, subject } of heads) {
          if (sequence <= until && found.length < max && matches(type, subject)) {
            found.push({ sequence, id: positionAt(sequence, epochs), type, subject });
          }
        }
        from = heads.at(-1)?.sequence ?? until;
        await nextTurn();
      }
      return found;
    },

    /** The newest `limit` events that match, the oldest first. For commands: it may read the whole log. */
    async listNewest(filter: EventFilter, limit: number): Promise<string[]> {
      const { first, last, epochs } = await readState();
      const matches = createMatcher(filter);
      const sequences: number[] = [];
      for (let before = last + 1; before > first && sequences.length < limit; before -= examinedMax) {
        const heads = await queries.listHeads(Math.max(0, before - 1 - examinedMax), examinedMax);
        const found = heads.filter(
          ({ sequence, type, subject }) => sequence >= first && sequence < before && matches(type, subject),
        );
        sequences.push(...found.map(({ sequence }) => sequence).toReversed());
      }
      const chosen = sequences.slice(0, limit);
      const rows = chosen.length === 0 ? [] : await queries.listEvents(chosen);
      return rows.map((row) => toEvent(row, positionAt(row.sequence, epochs)));
    },

    /** One event as JSON. @throws AppError notFound, logRewound, eventsExpired */
    async find(text: string, isAdmin: boolean): Promise<string> {
      const id = parseEventId(text);
      const state = await readState();
      const isNext = id?.epoch === state.epochs.at(-1)?.name && (id?.sequence ?? 0) > state.last;
      const sequence = id === undefined || id.sequence === 0 || isNext ? undefined : toSequence(id, state);
      // A number before the epoch of the id was given in another one.
      const isOwn = sequence !== undefined && positionAt(sequence, state.epochs) === text;
      if (sequence !== undefined && sequence < state.first) {
        throw expired(state);
      }
      const row = isOwn ? await queries.findEvent(sequence) : undefined;
      if (row === undefined || (adminTypes.test(row.type) && !isAdmin)) {
        throw new AppError('notFound', `There is no event ${text.slice(0, 40)}.`);
      }
      return toEvent(row, text);
    },
  };
}

/** Ids and types of the events of a request by one actor. @param isAdmin whether all types are listed */
export async function listEventsOfRequest(
  tx: Sql,
  { requestId, actor, isAdmin, limit }: RequestEvents,
): Promise<{ readonly id: string; readonly type: string }[]> {
  const rows = await eventLogQueries(tx).listOfRequest(requestId, actor, limit);
  const shown = rows.filter(({ type }) => isAdmin || !adminTypes.test(type));
  const { epochs, first } = shown.length === 0 ? { epochs: [], first: 1 } : await readLogState(tx);
  return shown
    .filter(({ sequence }) => sequence >= first)
    .map(({ sequence, type }) => ({ id: positionAt(sequence, epochs), type }));
}

interface RequestEvents {
  readonly requestId: string;
  readonly actor: string;
  readonly isAdmin: boolean;
  readonly limit: number;
}

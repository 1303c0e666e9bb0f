/** Reads the event log: pages of events, one event, and positions. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Principal } from '../auth/principal.ts';
import type { Database } from '../database/database.ts';
import { AppError } from '../errors.ts';
import type { EventHub } from './hub.ts';
import { eventLogQueries, type LogEventRow } from './log-queries.ts';
import { readLogState } from './log-reader.ts';
import { expired, type LogState, parseEventId, parsePosition, positionAt, sequenceOf } from './positions.ts';

/** A request examines at most so many events, whether they match or not. */
const examinedMax = 5000;
/** Of the data of the events of one page. */
const pageBytesMax = 4 * 1024 * 1024;
/** Clocks of instances differ: times of events may run against their numbers by that much. */
const clockSkewMs = 60_000;

/** Which events a reader wants, and may see. */
export interface EventFilter {
  /** Types, or `cheese.*`; null for all. */
  readonly types: readonly string[] | null;
  readonly subject: string | null;
  /** `admin` alone sees events of API keys, accounts, OAuth clients, approvals and webhook endpoints. */
  readonly isAdmin: boolean;
}

export interface EventPage {
  /** Events as JSON objects. */
  readonly items: readonly string[];
  /** The number of the last event that was examined. */
  readonly nextSequence: number;
  readonly hasMore: boolean;
}

export type EventMatcher = (type: string, subject: string) => boolean;

/** An event without its data. */
export interface EventHead {
  readonly sequence: number;
  readonly id: string;
  readonly type: string;
  readonly subject: string;
}

export interface EventService {
  /** The number after which the events of a position come. @throws AppError badRequest, logRewound, eventsExpired */
  resolve(position: string): Promise<number>;
  /** The name of the newest epoch. */
  findEpoch(): Promise<string>;
  /** The position of a number, as clients send it. */
  positionAt(sequence: number): Promise<string>;
  /** Events after a number, up to `limit`. */
  list(after: number, filter: EventFilter, limit: number): Promise<EventPage>;
  /** As `list`, but waits for a match up to `waitMs`. */
  waitForEvents(
    after: number,
    filter: EventFilter,
    limit: number,
    waitMs: number,
    signal?: AbortSignal,
  ): Promise<EventPage>;
  /**
   * The first `max` events after a number and up to another that match, without their data.
   * @param examinedMax null is returned where there are more events between the two numbers
   */
  listHeads(
    after: number,
    until: number,
    matches: EventMatcher,
    max: number,
    examinedMax: number,
  ): Promise<EventHead[] | null>;
  /** The newest `limit` events that match, the oldest first. For commands: it may read the whole log. */
  listNewest(filter: EventFilter, limit: number): Promise<string[]>;
  /** One event as JSON. @throws AppError notFound, logRewound, eventsExpired */
  find(id: string, isAdmin: boolean): Promise<string>;
}

const adminTypes = /^(api_key|account|oauth_client|approval|webhook_endpoint)\./;

/** @returns whether a principal sees all types of events */
export function seesAllEvents({ scopes }: Principal): boolean {
  return scopes.has('admin');
}

export function createEventService(database: Database, hub: EventHub): EventService {
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

  async function list(after: number, filter: EventFilter, limit: number): Promise<EventPage> {
    const matches = matcherOf(filter);
    const heads = await queries.listHeads(after, examinedMax);
    const chosen: number[] = [];
    let bytes = 0;
    let nextSequence = after;
    let isWhole = true;
    for (const { sequence, type, subject, bytes: size } of heads) {
      if (matches(type, subject)) {
        if (chosen.length === limit || (chosen.length > 0 && bytes + size > pageBytesMax)) {
          isWhole = false;
          break;
        }
        chosen.push(sequence);
        bytes += size;
      }
      nextSequence = sequence;
    }
    const rows = chosen.length === 0 ? [] : await queries.listEvents(chosen);
    const state = await readState();
    if (after < state.first - 1) {
      // Expired since the position was resolved: some of these events may have been deleted before they were read.
      throw expired(state);
    }
    return {
      items: rows.map((row) => toEvent(row, positionAt(row.sequence, state.epochs))),
      nextSequence,
      hasMore: !isWhole || heads.length === examinedMax,
    };
  }

  return {
    async resolve(text) {
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
          return sequenceOf(position, state);
      }
    },

    findEpoch: async () => (await queries.listEpochs()).at(-1)?.name ?? '',

    positionAt: async (sequence) => positionAt(sequence, (await readState()).epochs),

    list,

    async waitForEvents(after, filter, limit, waitMs, signal) {
      const deadline = performance.now() + waitMs;
      let from = after;
      for (;;) {
        const page = await list(from, filter, limit);
        const leftMs = deadline - performance.now();
        if (page.items.length > 0 || page.hasMore || leftMs <= 0 || signal?.aborted) {
          return page;
        }
        from = page.nextSequence;
        if (!(await hub.wait(from, leftMs, signal))) {
          return page;
        }
      }
    },

    async listHeads(after, until, matches, max, eventsMax) {
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

    async listNewest(filter, limit) {
      const { last, epochs } = await readState();
      const matches = matcherOf(filter);
      const sequences: number[] = [];
      for (let before = last + 1; before > 1 && sequences.length < limit; before -= examinedMax) {
        const heads = await queries.listHeads(Math.max(0, before - 1 - examinedMax), examinedMax);
        const found = heads.filter(
          ({ sequence, type, subject }) => sequence < before && matches(type, subject),
        );
        sequences.push(...found.map(({ sequence }) => sequence).toReversed());
      }
      const chosen = sequences.slice(0, limit);
      const rows = chosen.length === 0 ? [] : await queries.listEvents(chosen);
      return rows.map((row) => toEvent(row, positionAt(row.sequence, epochs)));
    },

    async find(text, isAdmin) {
      const id = parseEventId(text);
      const state = await readState();
      const isNext = id?.epoch === state.epochs.at(-1)?.name && (id?.sequence ?? 0) > state.last;
      const sequence = id === undefined || id.sequence === 0 || isNext ? undefined : sequenceOf(id, state);
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

/** Whether an event of a type and subject passes a filter. */
export function matcherOf({ types, subject, isAdmin }: EventFilter): EventMatcher {
  const names = new Set(types ?? []);
  const prefixes = (types ?? []).filter((type) => type.endsWith('.*')).map((type) => type.slice(0, -1));
  return (type, of) =>
    (subject === null || of === subject) &&
    (types === null || names.has(type) || prefixes.some((prefix) => type.startsWith(prefix))) &&
    (isAdmin || !adminTypes.test(type));
}

/** The event as list, stream and webhooks show it. */
export function toEvent(row: LogEventRow, id: string): string {
  const head = JSON.stringify({
    id,
    type: row.type,
    timestamp: row.created_at,
    sequence: row.sequence,
    subject: row.subject,
    actor: row.actor,
    requestId: row.request_id,
  });
  return `${head.slice(0, -1)},"data":${row.data}}`;
}

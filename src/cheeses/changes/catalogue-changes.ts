/**
 * The catalogue in the order of its last changes: each cheese once, in its newest state, or a tombstone if it was
 * deleted. A client that follows the list has a mirror of the catalogue. Versions of the catalogue are given under a
 * lock that is kept to the commit, so a reader that saw a version has seen every change of the lower ones.
 */
import { type Clock, timestamp } from '../../clock.ts';
import type { Cursors } from '../../cursor.ts';
import type { Database, Sql } from '../../database/database.ts';
import { purgeInSlices } from '../../database/purge.ts';
import { AppError } from '../../errors.ts';
import type { EventService } from '../../event-log/reading/service.ts';
import type { Unchanged } from '../listing/list-query.ts';
import { type ChangePlace, cheeseQueries } from '../queries.ts';
import { parseCheese } from '../schemas.ts';
import { type ChangeRow, changeQueries } from './queries.ts';

/** JSON of the cheeses of one page: a cheese can have 100 long photoUrls. */
const pageBytesMax = 4 * 1024 * 1024;
/** Tombstones that one transaction deletes while other changes of the catalogue wait. */
const tombstonesOfASlice = 500;
const cheeseEvents = { types: ['cheese.*'], subject: null, isAdmin: false };

/** What a token says. */
interface Position extends ChangePlace {
  /** The epoch of the event log: the catalogue of another one may have other changes with the same versions. */
  readonly epoch: string;
  /** The version at which the reader began. It has seen no cheese that was deleted before. */
  readonly begun: number;
}

/** A page of changes. */
interface ChangePage {
  /** The version of the catalogue, read before the page. */
  readonly version: number;
  /** Changes as JSON, separated by commas. */
  readonly items: string;
  /** The token of the position after the page. */
  readonly next: string;
  readonly hasMore: boolean;
}

interface ChangeRequest {
  /** A token; undefined for the beginning. */
  readonly since: string | undefined;
  readonly limit: number;
  readonly waitMs: number;
  /** Whether the client has the page at a version of the catalogue. */
  readonly isKnown?: ((version: number) => boolean) | undefined;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

export type CatalogueChanges = ReturnType<typeof createCatalogueChanges>;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly events: Pick<EventService, 'resolve' | 'waitForEvents' | 'findEpoch'>;
  readonly retentionMs: number;
}

export function createCatalogueChanges({ database, clock, cursors, events, retentionMs }: Dependencies) {
  const queries = changeQueries(database);

  async function resolve(since: string | undefined, version: number): Promise<Position> {
    const epoch = await events.findEpoch();
    if (since === undefined) {
      return { epoch, begun: version, version: 0, id: 0 };
    }
    const position = cursors.decode(since) as Position;
    if (position.epoch !== epoch) {
      throw new AppError(
        'logRewound',
        `The shop was restored, copied or reset, and this token is from before. ${startAgain}`,
      );
    }
    return position;
  }

  /** Called after the changes were read: tombstones may be removed at any time. @throws AppError eventsExpired */
  async function requireTombstonesAfter({ version, begun }: Position): Promise<void> {
    if (Math.max(version, begun) < (await queries.findTombstonesAfter())) {
      throw new AppError(
        'eventsExpired',
        `Cheeses were deleted after this token was given, and the shop no longer knows which ones. ${startAgain}`,
      );
    }
  }

  async function list(
    from: Position,
    since: string | undefined,
    limit: number,
    version: number,
  ): Promise<ChangePage> {
    const tombstonesAfter =
      from.version < from.begun ? { version: from.begun, id: Number.MAX_SAFE_INTEGER } : from;
    const rows = await queries.listChanges(from, tombstonesAfter, limit + 1);
    await requireTombstonesAfter(from);
    let bytes = 0;
    // A page has at least one change, whatever its size.
    const end = rows.findIndex((row, index) => {
      bytes += row.bytes;
      return index === limit || (index > 0 && bytes > pageBytesMax);
    });
    const shown = end === -1 ? rows : rows.slice(0, end);
    const last = shown.at(-1);
    const position = last === undefined ? from : { ...from, version: last.changed_in, id: last.id };
    return {
      version,
      items: (await toItems(shown)).join(','),
      next: last === undefined && since !== undefined ? since : cursors.encode(position),
      hasMore: end !== -1,
    };
  }

  async function toItems(rows: readonly ChangeRow[]): Promise<string[]> {
    const ids = rows.flatMap(({ id, deleted_at }) => (deleted_at === null ? [id] : []));
    const bodies = new Map(
      (ids.length === 0 ? [] : await queries.listBodies(ids)).map(({ id, body }) => [id, body]),
    );
    return rows.flatMap(({ id, deleted_at }) => {
      if (deleted_at !== null) {
        return [JSON.stringify({ id, deleted: true, changedAt: deleted_at })];
      }
      const body = bodies.get(id);
      // Deleted since the rows were read: its tombstone follows on a later page.
      return body === undefined
        ? []
        : [`{"id":${id},"deleted":false,"changedAt":"${parseCheese(body).updatedAt}","cheese":${body}}`];
    });
  }

  return {
    /**
     * A page of changes. If there is none, it waits up to `waitMs` for one.
     * @throws AppError badRequest, logRewound, eventsExpired
     */
    async waitForChanges(request: ChangeRequest): Promise<ChangePage | Unchanged> {
      const { since, limit, waitMs, isKnown, signal } = request;
      const deadline = performance.now() + waitMs;
      for (;;) {
        // Read before the changes: an event that is numbered later ends the wait.
        const lastEvent = waitMs > 0 ? await events.resolve('latest') : 0;
        const version = await cheeseQueries(database).findVersion();
        // Also if the client has the page: after a restored backup, a version can come a second time.
        const from = await resolve(since, version);
        const isUnchanged = isKnown?.(version) ?? false;
        const page = isUnchanged ? null : await list(from, since, limit, version);
        const leftMs = deadline - performance.now();
        if (page !== null && (page.items !== '' || page.hasMore || leftMs <= 0 || signal?.aborted)) {
          return page;
        }
        if (leftMs <= 0 || signal?.aborted) {
          return { unchanged: true, version };
        }
        await events.waitForEvents(lastEvent, cheeseEvents, 1, leftMs, signal);
      }
    },

    /** Deletes tombstones that are older than the retention: for some seconds, the rest next time. */
    async purge(): Promise<void> {
      const before = timestamp(clock.now() - retentionMs);
      const deleteOldest = async (tx: Sql, limit: number) => {
        await cheeseQueries(tx).lockCatalogue();
        const rows = await changeQueries(tx).listTombstonesBefore(before, limit);
        const newest = rows.at(-1);
        if (newest !== undefined) {
          await changeQueries(tx).deleteTombstones(rows.map(({ cheese_id }) => cheese_id));
          await changeQueries(tx).updateTombstonesAfter(newest.changed_in);
        }
        return rows.length;
      };
      await purgeInSlices(database, deleteOldest, tombstonesOfASlice);
    },
  };
}

const startAgain = 'Start without since, and delete the cheeses that are not in the new list.';

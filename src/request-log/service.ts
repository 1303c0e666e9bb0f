/** Reads and deletes the requests that are kept. */
import type { Principal } from '../access/principal.ts';
import { type Clock, timestamp } from '../clock.ts';
import { type Cursors, canonicalFilters, requireSameQuery } from '../cursor.ts';
import { type Context, isRequestId } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { purgeInSlices } from '../database/purge.ts';
import { AppError } from '../errors.ts';
import { listEventsOfRequest } from '../event-log/reading/service.ts';
import { formatFacts, type RequestFacts } from './facts.ts';
import { ForgottenCustomers } from './forgotten-customers.ts';
import { type RequestFilters, type RequestRow, requestQueries } from './queries.ts';
import { slowMs } from './writer.ts';

const keptHours = 24;
const keptMs = keptHours * 60 * 60 * 1000;
/** The newest requests of one account or customer stay, and those of all callers without a valid credential. */
const keptOfOwnerMax = 10_000;
/** Requests with one id: clients choose ids, which may repeat. */
const sameIdMax = 20;
/** Requests that a page with filters examines. */
const examinedMax = 5000;
const eventsMax = 100;

export interface RequestListQuery extends RequestFilters {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface RequestPage {
  readonly items: readonly RequestFacts[];
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
}

/** The command line sees the requests of all. */
export type Viewer = Pick<Principal, 'accountId' | 'customerId' | 'scopes'> | 'operator';

export type RequestService = ReturnType<typeof createRequestService>;

interface Position {
  readonly filters: RequestFilters;
  readonly before: number;
}

export function createRequestService(
  database: Database,
  clock: Pick<Clock, 'now'>,
  cursors: Cursors,
  isOn: boolean,
) {
  const queries = requestQueries(database);
  const forgotten = new ForgottenCustomers();
  const keptSince = () => timestamp(clock.now() - keptMs);

  return {
    /** The newest first. A page with filters can be short or empty, and have a next one. @throws AppError badRequest */
    async list(viewer: Viewer, { cursor, limit, ...rest }: RequestListQuery) {
      const requested = canonicalFilters(rest);
      const position = cursor === undefined ? null : (cursors.decode(cursor) as Position);
      if (position !== null) {
        requireSameQuery(position.filters, requested, { firstStatus: 'status', lastStatus: 'status' });
      }
      const { filters, before } = position ?? { filters: requested, before: null };
      const owner = ownerOfViewer(viewer);
      const last = (await queries.findLastExamined(owner, before, examinedMax))?.id ?? null;
      const rows = isOn ? await queries.list(owner, before, last, keptSince(), filters, limit + 1) : [];
      const page = rows.slice(0, limit);
      // If the rows that were examined are used up, the next page examines the ones before them.
      const next = rows.length > limit ? (page.at(-1)?.id ?? null) : isOn ? last : null;
      return {
        items: page.map(factsOfRow),
        nextCursor: next === null ? null : cursors.encode({ filters, before: next } satisfies Position),
        hasMore: next !== null,
      };
    },

    /** The requests with an id, the newest first. @throws AppError notFound */
    async find(viewer: Viewer, requestId: string) {
      const rows =
        isOn && isRequestId(requestId)
          ? await queries.find(requestId, ownerOfViewer(viewer), keptSince(), sameIdMax)
          : [];
      if (rows.length === 0) {
        throw new AppError('notFound', isOn ? notKept : isOff);
      }
      const isAdmin = seesAll(viewer);
      return Promise.all(
        rows.map(async (row) => {
          const facts = factsOfRow(row);
          // Another client can use the same id: its events have another actor.
          const actor = facts.credential?.id ?? 'anonymous';
          return {
            ...facts,
            events: await listEventsOfRequest(database, { requestId, actor, isAdmin, limit: eventsMax }),
          };
        }),
      );
    },

    /** The id of the newest row, after which `listSince` continues. */
    findNewest: async () => (await queries.findNewest())?.id ?? 0,

    /** Requests after a row, the oldest first: for the command line. */
    listSince: async (id: number, limit: number) =>
      (await queries.listSince(id, limit)).map((row) => ({ id: row.id, facts: factsOfRow(row) })),

    /** Deletes the requests that acted for a customer, in the transaction that deletes the customer. */
    async onCustomerDelete(tx: Sql, _: Context, { id }: { readonly id: number }) {
      await requestQueries(tx).deleteOfCustomers([id]);
    },

    /** Keeps nothing more of a customer whose deletion was committed. */
    forgetCustomer: ({ id }: { readonly id: number }) => forgotten.add(id),

    forgotten,

    /** Deletes expired requests, and the oldest of too many. Returns whether some are left. @param owners to be examined */
    async purge(owners: readonly string[]) {
      const isLeft = await purgeInSlices(database, (tx, limit) =>
        requestQueries(tx).deleteExpired(keptSince(), timestamp(clock.now() + keptMs), limit),
      );
      for (const owner of owners) {
        await purgeInSlices(database, (tx, limit) =>
          requestQueries(tx).deleteSurplus(owner, keptOfOwnerMax, limit),
        );
      }
      return isLeft;
    },
  };
}

const isOff = 'The request log of this server is off: its operator sets CURD_REQUEST_LOG.';
const notKept = `No request with this id is kept. Kept for ${keptHours} hours are changes, responses from 400 on, requests slower than ${slowMs} ms, and requests that sent a valid X-Request-Id. Send X-Request-Id with the request to find it later.`;

function factsOfRow({ facts }: RequestRow): RequestFacts {
  return formatFacts(JSON.parse(facts));
}

function seesAll(viewer: Viewer): boolean {
  return viewer === 'operator' || viewer.scopes.has('admin');
}

/** null: the requests of all. */
function ownerOfViewer(viewer: Viewer): string | null {
  if (viewer === 'operator' || seesAll(viewer)) {
    return null;
  }
  return viewer.accountId === null ? `customer:${viewer.customerId}` : `account:${viewer.accountId}`;
}

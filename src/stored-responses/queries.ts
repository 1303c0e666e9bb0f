/** Statements on stored responses to requests with an idempotency key. Times are RFC 3339. */
import { queriesOn } from '../database/database.ts';
import { deleteSlice, sql } from '../database/sql.ts';

export interface IdempotentResponseRow {
  readonly fingerprint: string;
  readonly response: string;
}

export interface OwnedResponseRow {
  readonly owner: string;
  readonly method: string;
  readonly path: string;
  readonly request_id: string;
  readonly response: string;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface NewResponseRow extends OwnedResponseRow {
  readonly request: string;
  readonly fingerprint: string;
}

/** How much of an owner `request` begins with. Both are hexadecimal. */
export const ownerLength = 16;

export const idempotencyQueries = queriesOn((tx) => ({
  find: (request: string, now: string) =>
    tx.get<IdempotentResponseRow>(sql`
      select fingerprint, response from stored_response where request = ${request} and expires_at > ${now}`),

  /**
   * Replaces a response that has expired. If another one is stored, the transaction fails with a NotNullError of
   * `expires_at`: this needs no result of the statement, which is sent together with the commit.
   */
  insert: (row: NewResponseRow) =>
    tx.send(sql`
      insert into stored_response
        (request, owner, fingerprint, method, path, request_id, response, created_at, expires_at)
      values (${row.request}, ${row.owner}, ${row.fingerprint}, ${row.method}, ${row.path}, ${row.request_id},
        ${row.response}, ${row.created_at}, ${row.expires_at})
      on conflict (request) do update set owner = excluded.owner, fingerprint = excluded.fingerprint,
        method = excluded.method, path = excluded.path, request_id = excluded.request_id, response = excluded.response,
        created_at = excluded.created_at,
        expires_at = case when stored_response.expires_at <= excluded.created_at then excluded.expires_at end`),

  /** The newest first. */
  listOf: (owner: string, now: string, limit: number) =>
    tx.all<OwnedResponseRow>(sql`
      select owner, method, path, request_id, response, created_at, expires_at from stored_response
      where ${inRangeOf(owner)} and owner = ${owner} and expires_at > ${now}
      order by created_at desc, id desc limit ${limit}`),

  /** Deletes up to `limit` expired rows, except those that another transaction has locked. Returns how many. */
  deleteExpired: (now: string, limit: number) =>
    tx.run(deleteSlice('stored_response', 'id', 'expires_at', sql`expires_at <= ${now}`, limit)),
}));

/** All of an owner, by the index on `request`. `g` follows every hexadecimal digit. */
function inRangeOf(owner: string) {
  const start = owner.slice(0, ownerLength);
  return sql`request >= ${start} and request < ${`${start}g`}`;
}

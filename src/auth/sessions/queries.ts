/** Statements on the sessions of customers. */
import { queriesOn } from '../../database/database.ts';
import { deleteSlice, forShare, type Statement, selectTexts, sql } from '../../database/sql.ts';

export interface SessionRow {
  readonly token_hash: string;
  readonly customer_id: number;
  readonly created_at: string;
  readonly expires_at: string;
}

const session = sql`select token_hash, customer_id, created_at, expires_at from session`;

export const sessionByHash = {
  one: (hash: string): Statement => sql`${session} where token_hash = ${hash}`,
  many: (hashes: readonly string[]): Statement =>
    sql`${session} where token_hash in (${selectTexts(hashes)})`,
  keyOf: (row: SessionRow): string => row.token_hash,
};

export const sessionQueries = queriesOn((tx) => ({
  insert: (row: SessionRow) =>
    tx.send(sql`
      insert into session (token_hash, customer_id, created_at, expires_at)
      values (${row.token_hash}, ${row.customer_id}, ${row.created_at}, ${row.expires_at})`),

  /** Deletes all sessions of a customer except this one and the newest `others`. */
  deleteOldest: (customerId: number, hash: string, others: number) =>
    tx.send(sql`
      delete from session where customer_id = ${customerId} and token_hash <> ${hash} and token_hash not in (
        select token_hash from session where customer_id = ${customerId} and token_hash <> ${hash}
        order by created_at desc, token_hash limit ${others})`),

  /** Undefined when the session has ended. Until this transaction ends, no other one ends the session. */
  lockForShare: (hash: string) =>
    tx.get(sql`select token_hash from session where token_hash = ${hash}${forShare}`),

  delete: (hash: string) => tx.run(sql`delete from session where token_hash = ${hash}`),

  /** @param except hash of a session to keep */
  deleteOfCustomer: (customerId: number, except: string | null) =>
    tx.run(sql`delete from session where customer_id = ${customerId} and token_hash <> ${except ?? ''}`),

  deleteExpired: (now: string, limit: number) =>
    tx.run(deleteSlice('session', 'token_hash', 'expires_at', sql`expires_at <= ${now}`, limit)),
}));

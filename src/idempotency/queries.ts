/** Statements on stored responses to requests with an idempotency key. Times are RFC 3339. */
import { queriesOn } from '../database/database.ts';
import { deleteUnlocked, sql } from '../database/sql.ts';

export interface IdempotentResponseRow {
  readonly fingerprint: string;
  /** The encrypted response. */
  readonly sealed: string;
}

export const idempotencyQueries = queriesOn((tx) => ({
  find: (id: string, now: string) =>
    tx.get<IdempotentResponseRow>(sql`
      select fingerprint, sealed from idempotent_answer where id = ${id} and expires_at > ${now}`),

  insert: (id: string, row: IdempotentResponseRow, expiresAt: string) =>
    tx.run(sql`
      insert into idempotent_answer (id, fingerprint, sealed, expires_at)
      values (${id}, ${row.fingerprint}, ${row.sealed}, ${expiresAt})`),

  deleteExpired: (id: string, now: string) =>
    tx.run(sql`delete from idempotent_answer where id = ${id} and expires_at <= ${now}`),

  deleteAllExpired: (now: string) =>
    tx.run(deleteUnlocked('idempotent_answer', 'id', sql`expires_at <= ${now}`)),
}));

/** Statements on notes. */
import { queriesOn } from '../database/database.ts';
import { newId } from '../database/dry-run.ts';
import { advisoryLock, type Statement, sql } from '../database/sql.ts';
import type { NoteSubject } from './schemas.ts';

export interface NoteRow {
  readonly id: number;
  readonly author: string;
  readonly body: string;
  readonly created_at: string;
}

const isAbout = (subject: NoteSubject): Statement =>
  'orderId' in subject
    ? sql`order_id = ${subject.orderId}`
    : sql`customer_id = ${subject.customerId} and order_id is null`;

const nameOf = (subject: NoteSubject): string =>
  'orderId' in subject ? `order:${subject.orderId}` : `customer:${subject.customerId}`;

export const noteQueries = queriesOn((tx) => ({
  /** Locks the number of notes about a subject until the transaction ends. */
  lockCount: (subject: NoteSubject) => tx.get(advisoryLock('notes of', nameOf(subject))),

  count: async (subject: NoteSubject): Promise<number> =>
    (await tx.get<{ count: number }>(sql`select count(*) as count from staff_note where ${isAbout(subject)}`))
      ?.count ?? 0,

  insert: (
    orderId: number | null,
    customerId: number | null,
    { author, body, created_at }: Omit<NoteRow, 'id'>,
  ) =>
    tx.get<{ id: number }>(sql`
      insert into staff_note (id, order_id, customer_id, author, body, created_at)
      values (${newId(tx)}, ${orderId}, ${customerId}, ${author}, ${body}, ${created_at}) returning id`),

  /** The newest before an id. */
  list: (subject: NoteSubject, before: number, limit: number) =>
    tx.all<NoteRow>(sql`
      select id, author, body, created_at from staff_note
      where ${isAbout(subject)} and id < ${before} order by id desc limit ${limit}`),

  delete: (id: number) => tx.run(sql`delete from staff_note where id = ${id}`),

  /** Deletes the notes about a customer, and those about the customer's orders. */
  deleteOfCustomer: (customerId: number) =>
    tx.run(sql`delete from staff_note where customer_id = ${customerId}`),
}));

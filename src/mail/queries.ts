/** Statements on mails, and on how far they were made of the event log. */
import { queriesOn } from '../database/database.ts';
import { newId } from '../database/dry-run.ts';
import { insertRows } from '../database/rows.ts';
import { deleteSlice, forUpdate, joinAnd, selectIntegers, sql } from '../database/sql.ts';
import type { MailName } from '../settings/mail.ts';

export const mailStates = ['waiting', 'sent', 'dropped', 'failed'] as const;
export type MailState = (typeof mailStates)[number];

export interface MailReaderRow {
  /** null: mails begin with the next event. */
  readonly position: number | null;
  readonly is_paused: number;
}

export interface MailRow {
  readonly id: number;
  readonly name: MailName;
  readonly state: MailState;
  readonly customer_id: number;
  readonly order_id: number | null;
  readonly sequence: number | null;
  readonly event_id: string | null;
  readonly attempts: number;
  readonly reason: string | null;
  readonly created_at: string;
  readonly expires_at: string;
  readonly ended_at: string | null;
  readonly counted_at: string | null;
  readonly sealed_address: string | null;
}

export type NewMail = Pick<
  MailRow,
  | 'name'
  | 'customer_id'
  | 'order_id'
  | 'sequence'
  | 'event_id'
  | 'created_at'
  | 'expires_at'
  | 'sealed_address'
>;

export interface MailFilters {
  readonly state?: MailState | undefined;
  readonly customerId?: number | undefined;
  readonly orderId?: number | undefined;
}

/** What changes when a mail ends. */
export interface MailEnd {
  readonly state: Exclude<MailState, 'waiting'>;
  readonly reason: string | null;
  readonly attempts: number;
}

const columns = sql`id, name, state, customer_id, order_id, sequence, event_id, attempts, reason, created_at, expires_at,
  ended_at, counted_at, sealed_address`;
const reader = sql`select position, is_paused from mail_reader where id = 1`;

export const mailQueries = queriesOn((tx) => ({
  findReader: () => tx.get<MailReaderRow>(reader),

  /** Claims and the reader wait for each other: so no limit is exceeded, and no event makes two mails. */
  lockReader: () => tx.get<MailReaderRow>(sql`${reader}${forUpdate}`),

  updatePosition: (position: number | null) =>
    tx.run(sql`update mail_reader set position = ${position} where id = 1`),

  updatePaused: (isPaused: boolean) =>
    tx.run(sql`update mail_reader set is_paused = ${isPaused ? 1 : 0} where id = 1`),

  /** Returns the id. */
  insert: async (mail: NewMail): Promise<number> => {
    const row = await tx.get<{ id: number }>(sql`
      insert into mail (id, name, state, customer_id, order_id, sequence, event_id, created_at, expires_at, sealed_address)
      values (${newId(tx)}, ${mail.name}, 'waiting', ${mail.customer_id}, ${mail.order_id}, ${mail.sequence},
        ${mail.event_id}, ${mail.created_at}, ${mail.expires_at}, ${mail.sealed_address})
      returning id`);
    return row?.id ?? Number.NaN;
  },

  /** Mails of events. The reader is locked, and no event is read twice. */
  insertAll: (mails: readonly NewMail[]) =>
    insertRows(
      tx,
      'mail',
      mails.map((mail) => ({ ...mail, state: 'waiting' })),
    ),

  listOfEvents: (after: number, until: number) =>
    tx.all<{ id: number }>(sql`
      select id from mail where sequence > ${after} and sequence <= ${until} and state = 'waiting'`),

  find: (id: number) => tx.get<MailRow>(sql`select ${columns} from mail where id = ${id}`),

  listByIds: (ids: readonly number[]) =>
    tx.all<MailRow>(sql`select ${columns} from mail where id in (${selectIntegers(ids)})`),

  /** The newest first. */
  list: ({ state, customerId, orderId }: MailFilters, before: number | null, limit: number) =>
    tx.all<MailRow>(sql`
      select ${columns} from mail where ${joinAnd([
        sql`id < ${before ?? Number.MAX_SAFE_INTEGER}`,
        ...(state === undefined ? [] : [sql`state = ${state}`]),
        ...(customerId === undefined ? [] : [sql`customer_id = ${customerId}`]),
        ...(orderId === undefined ? [] : [sql`order_id = ${orderId}`]),
      ])} order by id desc limit ${limit}`),

  listWaitingOf: (customerId: number, name: MailName | null) =>
    tx.all<{ id: number }>(sql`
      select id from mail
      where customer_id = ${customerId} and state = 'waiting' ${name === null ? sql`` : sql`and name = ${name}`}`),

  listWaiting: (after: number, limit: number) =>
    tx.all<{ id: number }>(sql`
      select id from mail where state = 'waiting' and id > ${after} order by id limit ${limit}`),

  countSince: async (customerId: number, name: MailName, since: string): Promise<number> =>
    (
      await tx.get<{ count: number }>(sql`
        select count(*) as count from mail
        where customer_id = ${customerId} and name = ${name} and created_at > ${since}`)
    )?.count ?? 0,

  countOfRecipient: async (recipient: string, since: string): Promise<number> =>
    (
      await tx.get<{ count: number }>(sql`
        select count(*) as count from mail where recipient = ${recipient} and counted_at > ${since}`)
    )?.count ?? 0,

  updateCounted: (id: number, recipient: string, at: string) =>
    tx.run(sql`update mail set recipient = ${recipient}, counted_at = ${at} where id = ${id}`),

  /** Ends mails that wait. Returns those that it has ended. */
  end: (ids: readonly number[], { state, reason, attempts }: MailEnd, at: string) =>
    tx.all<Pick<MailRow, 'id' | 'name'>>(sql`
      update mail set state = ${state}, reason = ${reason}, attempts = ${attempts}, ended_at = ${at},
        sealed_address = null
      where id in (${selectIntegers(ids)}) and state = 'waiting' returning id, name`),

  /** Works like `end`, without a change of the attempts. */
  drop: (ids: readonly number[], reason: string, at: string) =>
    tx.all<Pick<MailRow, 'id' | 'name'>>(sql`
      update mail set state = 'dropped', reason = ${reason}, ended_at = ${at}, sealed_address = null
      where id in (${selectIntegers(ids)}) and state = 'waiting' returning id, name`),

  updateAttempt: (id: number, attempts: number, reason: string | null) =>
    tx.run(
      sql`update mail set attempts = ${attempts}, reason = ${reason} where id = ${id} and state = 'waiting'`,
    ),

  /** Lets a mail wait again, as if it were new. 0 if it was sent meanwhile. */
  renew: (id: number, expiresAt: string) =>
    tx.run(sql`
      update mail set state = 'waiting', attempts = 0, reason = null, ended_at = null, expires_at = ${expiresAt},
        recipient = null, counted_at = null
      where id = ${id} and state <> 'sent'`),

  clearOldRecipients: (before: string, limit: number) =>
    tx.run(sql`
      update mail set recipient = null where id in (
        select id from mail where recipient is not null and counted_at <= ${before} order by id limit ${limit})`),

  deleteEnded: (before: string, limit: number) =>
    tx.run(deleteSlice('mail', 'id', 'ended_at', sql`ended_at < ${before}`, limit)),

  countByState: () =>
    tx.all<{ state: MailState; count: number }>(sql`
      select state, count(*) as count from mail where state in ('waiting', 'failed') group by state`),

  findOldestWaiting: async (): Promise<string | null> =>
    (
      await tx.get<{ created_at: string }>(sql`
        select created_at from mail where state = 'waiting' order by id limit 1`)
    )?.created_at ?? null,
}));

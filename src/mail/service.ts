/** The mails of a shop for operators: which were sent, and why others were not. */
import { type Clock, timestamp } from '../clock.ts';
import { type Cursors, canonicalFilters, requireSameQuery } from '../cursor.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { AppError } from '../errors.ts';
import { leasedJobs } from '../jobs/leases.ts';
import { addMailJobs, lifetimeMs, mailKind } from './jobs.ts';
import { noMail } from './previews.ts';
import { type MailFilters, type MailRow, mailQueries } from './queries.ts';

export interface MailRequest extends MailFilters {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

type Members = Readonly<Record<string, unknown>>;

/** The position that a cursor contains. */
interface Position {
  readonly filters: MailFilters;
  readonly before: number | null;
}

export type MailService = ReturnType<typeof createMailService>;

export function createMailService(
  database: Database,
  clock: Pick<Clock, 'now'>,
  cursors: Cursors,
  isOff: boolean,
) {
  function positionOf(cursor: string | undefined, filters: MailFilters): Position {
    if (cursor === undefined) {
      return { filters, before: null };
    }
    const position = cursors.decode(cursor) as Position;
    requireSameQuery(position.filters, filters, {});
    return position;
  }

  /** When mails that wait are tried next. One that is being sent has no time. */
  async function nextAttempts(sql: Sql, mails: readonly MailRow[]): Promise<ReadonlyMap<string, string>> {
    const keys = mails.filter(({ state }) => state === 'waiting').map(({ id }) => String(id));
    const times = keys.length === 0 ? [] : await leasedJobs(sql).listTimes(mailKind, keys);
    return new Map(
      times.filter(({ leased_until }) => leased_until === null).map(({ key, due_at }) => [key, due_at]),
    );
  }

  return {
    /** Newest first. @throws AppError badRequest when the cursor belongs to another query */
    async list({ cursor, limit, ...rest }: MailRequest) {
      const { filters, before } = positionOf(cursor, canonicalFilters(rest));
      const rows = await mailQueries(database).list(filters, before, limit + 1);
      const { page, ...end } = cursors.page(rows, limit, ({ id }): Position => ({ filters, before: id }));
      const times = await nextAttempts(database, page);
      return { items: page.map((mail) => toMail(mail, times.get(String(mail.id)))), ...end };
    },

    /** Sends a mail that waits, failed or was dropped. @throws AppError notFound; conflict for one that was sent */
    retry: (context: Context, id: number): Promise<Members> =>
      context.transaction(async (tx) => {
        const queries = mailQueries(tx);
        const mail = await queries.find(id);
        if (mail === undefined) {
          throw new AppError('notFound', noMail);
        }
        requireRepeatable(mail, isOff);
        const now = clock.now();
        await addMailJobs(tx, [id], now);
        await leasedJobs(tx).makeDue(mailKind, String(id), now, 0);
        if ((await queries.renew(id, timestamp(now + lifetimeMs(mail.name)))) === 0) {
          throw wasSent();
        }
        const [time] = await leasedJobs(tx).listTimes(mailKind, [String(id)]);
        return toMail((await queries.find(id)) as MailRow, time?.due_at);
      }),
  };
}

function wasSent(): AppError {
  return new AppError('conflict', 'The mail server has accepted this mail already.');
}

/** @throws AppError conflict */
function requireRepeatable({ name, state, sealed_address }: MailRow, isOff: boolean): void {
  if (state === 'sent') {
    throw wasSent();
  }
  if (isOff) {
    throw new AppError(
      'conflict',
      'Mail is off, so nothing is sent. Set CURD_MAIL, and start the server again.',
    );
  }
  if (name === 'email-changed' && sealed_address === null) {
    throw new AppError(
      'conflict',
      'The old address of the customer was deleted when this mail ended. It cannot be sent any more.',
    );
  }
}

function toMail(mail: MailRow, nextAttemptAt: string | undefined): Members {
  return {
    id: mail.id,
    mail: mail.name,
    state: mail.state,
    customerId: mail.customer_id,
    orderId: mail.order_id,
    eventId: mail.event_id,
    attempts: mail.attempts,
    createdAt: mail.created_at,
    sentAt: mail.state === 'sent' ? mail.ended_at : null,
    nextAttemptAt: nextAttemptAt ?? null,
    reason: mail.reason,
  };
}

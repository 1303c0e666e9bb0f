/** The background jobs of mails that wait: one for each, with the id of the mail as its key. */
import { timestamp } from '../clock.ts';
import type { Sql } from '../database/database.ts';
import { leasedJobs } from '../jobs/leases.ts';
import { jobQueue } from '../jobs/queue.ts';
import type { MailName } from '../settings/mail.ts';
import { type MailRow, mailQueries, type NewMail } from './queries.ts';

export const mailKind = 'mail.sending';
export const mailLane = { kind: mailKind, lane: 'mail' } as const;

const dayMs = 24 * 60 * 60_000;
const resetMs = 30 * 60_000;

/** How old the reason of a mail may be when it is sent: after a long outage, old news help nobody. */
export function lifetimeMs(name: MailName): number {
  return name === 'password-reset' ? resetMs : dayMs;
}

/** Adds the jobs of mails, those that are missing. */
export function addMailJobs(tx: Sql, ids: readonly number[], now: number): Promise<void> {
  return leasedJobs(tx).addMissing(mailLane, ids.map(String), now);
}

/** Adds a mail that no event causes, in the transaction of its change. */
export async function addMail(
  tx: Sql,
  mail: Pick<NewMail, 'name' | 'customer_id'> & { readonly sealed_address?: string },
  now: number,
): Promise<void> {
  const id = await mailQueries(tx).insert({
    order_id: null,
    sequence: null,
    event_id: null,
    sealed_address: null,
    ...mail,
    created_at: timestamp(now),
    expires_at: timestamp(now + lifetimeMs(mail.name)),
  });
  await addMailJobs(tx, [id], now);
}

/** Drops mails that wait. One that is being sent may arrive all the same. */
export async function dropMails(
  tx: Sql,
  mails: readonly Pick<MailRow, 'id'>[],
  reason: string,
  now: number,
): Promise<Pick<MailRow, 'id' | 'name'>[]> {
  if (mails.length === 0) {
    return [];
  }
  const ids = mails.map(({ id }) => id);
  await jobQueue(tx).deleteAll(mailKind, ids.map(String));
  return mailQueries(tx).drop(ids, reason, timestamp(now));
}

/** Stores the results of attempts to send mails, and knows for how long none can be sent. */
import { type Clock, timestamp } from '../clock.ts';
import type { CustomerContact } from '../customers/customer-finder.ts';
import type { Sql } from '../database/database.ts';
import type { LeasedAttempt } from '../jobs/leases.ts';
import type { Finished } from '../jobs/outbox.ts';
import { nextAttemptMs, type RetrySchedule } from '../jobs/retry-schedule.ts';
import type { Log } from '../log.ts';
import { type MailRow, type MailState, mailQueries } from './queries.ts';
import type { MailResult } from './transport/transport.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** The mail fails after the last attempt. */
const retries: RetrySchedule = {
  waitsMs: [minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 12 * hourMs],
  jitter: 0,
};
/** How long no mail is sent after the server has refused the sign-in or the sender. */
const faultMs = minuteMs;

/** An attempt that was begun. */
export interface MailAttempt extends LeasedAttempt {
  readonly mail: MailRow;
  readonly contact: CustomerContact;
}

/** The result of the transport; or `dropped`, if there is nothing to send any more. */
export type SendingResult = MailResult | { readonly outcome: 'dropped'; readonly reason: string };

/** When a mail is tried again. Attempts without a server that accepts mails of this shop do not count. */
export function nextAttempt({ mail }: MailAttempt, { outcome, reason }: SendingResult) {
  const error = reason ?? '';
  switch (outcome) {
    case 'stopped':
      return { afterMs: 0, error };
    case 'senderRefused':
      return { afterMs: faultMs, error };
    case 'later':
      return { afterMs: nextAttemptMs(retries, mail.attempts + 1, 0), error };
    default:
      return { afterMs: null, error };
  }
}

/** @returns how the mail ended; null if it waits */
export async function storeMailResult(
  tx: Sql,
  { attempt: { mail }, result, isOver, now }: Finished<MailAttempt, SendingResult>,
): Promise<Exclude<MailState, 'waiting'> | null> {
  const { outcome, reason } = result;
  const isUncounted = outcome === 'dropped' || outcome === 'stopped' || outcome === 'senderRefused';
  const attempts = mail.attempts + (isUncounted ? 0 : 1);
  if (!isOver) {
    await mailQueries(tx).updateAttempt(mail.id, attempts, isUncounted ? (reason ?? mail.reason) : reason);
    return null;
  }
  const state = outcome === 'sent' || outcome === 'dropped' ? outcome : 'failed';
  const ended = await mailQueries(tx).end([mail.id], { state, reason, attempts }, timestamp(now));
  return ended.length > 0 ? state : null;
}

/** Whether the mail server refuses all mails of the shop, as this process last learned. */
export function createSenderFault(clock: Clock, log: Pick<Log, 'error'>) {
  let fault: { readonly reason: string; readonly until: number } | null = null;
  const isActive = () => fault !== null && fault.until > clock.now();
  return {
    note({ outcome, reason }: SendingResult) {
      if (outcome === 'senderRefused') {
        if (!isActive()) {
          log.error(
            { reason },
            'the mail server refuses all mails of this shop; sending continues in a minute',
          );
        }
        fault = { reason: reason ?? '', until: clock.now() + faultMs };
      } else if (outcome === 'sent') {
        fault = null;
      }
    },
    /** Why no mail can be sent; null if that is not known. */
    reason: () => fault?.reason ?? null,
    /** Whether no mail is tried now. */
    isActive,
  };
}

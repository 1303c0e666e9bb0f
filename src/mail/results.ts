/** Stores the results of attempts: completes mails, plans the next attempt, and stops where no mail can be sent. */
import { type Clock, timestamp } from '../clock.ts';
import type { CustomerContact } from '../customers/customer-finder.ts';
import type { Database, Sql } from '../database/database.ts';
import { type LeasedJob, leasedJobs } from '../jobs/leases.ts';
import type { Log } from '../log.ts';
import type { MailName } from '../settings/config.ts';
import { mailKind } from './jobs.ts';
import { type MailRow, type MailState, mailQueries } from './queries.ts';
import type { MailResult } from './transport/transport.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Waits after an attempt, by the number of attempts made. Then the mail fails. */
const waitsMs = [minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 12 * hourMs];
/** How long no mail is sent after the server has refused the sign-in or the sender. */
const faultMs = minuteMs;

/** An attempt that was begun. */
export interface MailAttempt {
  readonly job: LeasedJob;
  readonly mail: MailRow;
  readonly contact: CustomerContact;
}

/** The result of the transport; or `dropped`, where there is nothing to send any more. */
export type SendingResult = MailResult | { readonly outcome: 'dropped'; readonly reason: string };

/** A mail has ended. */
export type OnEnd = (name: MailName, state: Exclude<MailState, 'waiting'>) => void;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'error'>;
  readonly onEnd: OnEnd;
}

export function createResultStore({ database, clock, log, onEnd }: Dependencies) {
  /** Why no mail can be sent, and until when none is tried. */
  let fault: { readonly reason: string; readonly until: number } | null = null;

  /** @returns how the mail ended; null where it waits, or where another attempt has begun since */
  async function storeIn(
    tx: Sql,
    { job, mail }: MailAttempt,
    { outcome, reason }: SendingResult,
  ): Promise<Exclude<MailState, 'waiting'> | null> {
    const now = clock.now();
    const queries = mailQueries(tx);
    const attempts = mail.attempts + (outcome === 'dropped' ? 0 : 1);
    const wait = waitsMs[attempts - 1];
    if (outcome === 'senderRefused' || outcome === 'stopped') {
      const dueAt = outcome === 'stopped' ? now : now + faultMs;
      if (await leasedJobs(tx).postpone(mailKind, job, dueAt, reason ?? '')) {
        await queries.updateAttempt(mail.id, mail.attempts, reason ?? mail.reason);
      }
      return null;
    }
    if (outcome === 'later' && wait !== undefined) {
      if (await leasedJobs(tx).postpone(mailKind, job, now + wait, reason ?? '')) {
        await queries.updateAttempt(mail.id, attempts, reason);
      }
      return null;
    }
    const state = outcome === 'sent' || outcome === 'dropped' ? outcome : 'failed';
    const isLatest = await leasedJobs(tx).end(mailKind, job);
    return isLatest && (await queries.end([mail.id], { state, reason, attempts }, timestamp(now))).length > 0
      ? state
      : null;
  }

  async function store(attempt: MailAttempt, result: SendingResult): Promise<void> {
    const { mail } = attempt;
    const { outcome, reason } = result;
    if (outcome === 'senderRefused') {
      const isNew = fault === null || fault.until <= clock.now();
      fault = { reason: reason ?? '', until: clock.now() + faultMs };
      if (isNew) {
        log.error(
          { reason },
          'the mail server refuses all mails of this shop; sending continues in a minute',
        );
      }
    } else if (outcome === 'sent') {
      fault = null;
    }
    const state = await database.transaction((tx) => storeIn(tx, attempt, result));
    if (state !== null) {
      onEnd(mail.name, state);
    }
    if (state === 'failed') {
      log.warn({ mailId: mail.id, mail: mail.name, reason }, 'a mail could not be sent');
    }
  }

  return {
    store,
    fault: () => fault?.reason ?? null,
    isStopped: () => fault !== null && fault.until > clock.now(),
  };
}

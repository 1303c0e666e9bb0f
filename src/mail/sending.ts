/**
 * Sends mails, as background jobs under leases. A claim leases jobs in one transaction, the mails are sent outside of any,
 * and a second transaction stores each result. A server that dies in between has sent the mail or not: it is sent again
 * with the same Message-ID.
 */
import { createHmac, hkdfSync } from 'node:crypto';
import { type Clock, timestamp } from '../clock.ts';
import type { CustomerAdministration } from '../customers/administration.ts';
import type { CustomerContact, CustomerFinder } from '../customers/customer-finder.ts';
import { resetUrl } from '../customers/login/reset-token.ts';
import type { Database, Sql } from '../database/database.ts';
import type { LeaseHandler } from '../jobs/lease-worker.ts';
import { type LeasedJob, leasedJobs } from '../jobs/leases.ts';
import type { Log } from '../log.ts';
import { caseFold } from '../schema/case-fold.ts';
import type { Config, MailName, MailTransport } from '../settings/config.ts';
import { type AccountMails, customerWasDeleted } from './account-mails.ts';
import { type ContentDependencies, createContentReader, type ReadVariables } from './content/content.ts';
import type { TemplateStore } from './content/template-store.ts';
import type { MailVariables } from './content/variables.ts';
import { mailKind, mailLane } from './jobs.ts';
import { type MailRow, mailQueries } from './queries.ts';
import { createResetTokens } from './reset/reset-token.ts';
import { createResultStore, type MailAttempt, type OnEnd, type SendingResult } from './results.ts';
import { messageIdOf, senderOf } from './sender.ts';
import { openMailSender } from './transport/open-sender.ts';
import type { MailSender } from './transport/transport.ts';

/** A server that has not renewed its leases for so long is dead. */
const leaseMs = 10_000;
const claimMax = 16;
/** Jobs that all servers together have leased. */
const leasedMax = 1000;
const hourMs = 60 * 60_000;
const mailsOfAddressMax = 20;
/** Each counted by itself: nobody may be able to use up the limit by orders, so that a customer gets no link, or no warning. */
const countedAlone: readonly MailName[] = ['password-reset', 'password-changed'];

export interface SendingDependencies extends ContentDependencies {
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'error'>;
  readonly config: Pick<Config, 'mail' | 'mailFrom' | 'mailReplyTo' | 'secret' | 'orderUrl'>;
  readonly database: Database;
  readonly accountMails: Pick<AccountMails, 'openAddress'>;
  readonly customerFinder: Pick<CustomerFinder, 'listContacts'>;
  readonly administration: Pick<CustomerAdministration, 'storeMailedReset'>;
  readonly templates: Pick<TemplateStore, 'read'>;
  readonly onEnd: OnEnd;
}

export interface Sending extends LeaseHandler<MailAttempt, SendingResult> {
  /** Why no mail can be sent; null where that is not known. */
  senderFault(): string | null;
  /** Mails that wait for a connection are released. */
  close(): Promise<void>;
}

export function createSending(dependencies: SendingDependencies): Sending {
  const { database, clock, log, config, accountMails, customerFinder, administration } = dependencies;
  const { templates, issuer, site } = dependencies;
  const { store, fault, isStopped } = createResultStore(dependencies);
  const recipientKey = Buffer.from(hkdfSync('sha256', config.secret, '', 'recipients of mails', 32));
  const readVariables: ReadVariables = createContentReader(dependencies);
  const tokenOf = createResetTokens(config.secret);
  /** The last mail about each order that is being sent. Those about one order wait for each other. */
  const lastOfOrders = new Map<number, Promise<SendingResult>>();
  let sender: Promise<MailSender> | null = null;

  function claim(
    _lane: string,
    max: number,
    onLease: (now: number) => void,
  ): Promise<readonly MailAttempt[]> {
    return database.transaction(async (tx) => {
      const reader = await mailQueries(tx).lockReader();
      const now = clock.now();
      if (reader?.is_paused !== 0 || isStopped()) {
        return [];
      }
      onLease(now);
      const jobs = await leasedJobs(tx).lease(mailLane, { max, runningMax: leasedMax }, now, leaseMs);
      return jobs.length === 0 ? [] : beginAttempts(tx, jobs, now);
    });
  }

  async function beginAttempts(tx: Sql, jobs: readonly LeasedJob[], now: number): Promise<MailAttempt[]> {
    const mails = await mailQueries(tx).listByIds(jobs.map(({ key }) => Number(key)));
    const contacts = await customerFinder.listContacts(
      tx,
      mails.map(({ customer_id }) => customer_id),
    );
    const attempts: MailAttempt[] = [];
    for (const job of jobs) {
      const mail = mails.find(({ id }) => String(id) === job.key);
      if (mail?.state !== 'waiting') {
        await leasedJobs(tx).end(mailKind, job);
        continue;
      }
      const contact = contactOf(mail, contacts.get(mail.customer_id));
      const problem = contact === null ? customerWasDeleted : await reasonToDrop(tx, mail, contact, now);
      if (contact === null || problem !== null) {
        await leasedJobs(tx).end(mailKind, job);
        await mailQueries(tx).drop([mail.id], problem ?? customerWasDeleted, timestamp(now));
        dependencies.onEnd(mail.name, 'dropped');
      } else {
        attempts.push({ job, mail, contact });
      }
    }
    return attempts.sort((a, b) => a.mail.id - b.mail.id);
  }

  /** The customer, with the address that the mail goes to. */
  function contactOf(mail: MailRow, contact: CustomerContact | undefined): CustomerContact | null {
    if (contact === undefined || mail.sealed_address === null) {
      return contact ?? null;
    }
    const email = accountMails.openAddress(mail.customer_id, mail.sealed_address);
    return email === null ? null : { ...contact, email };
  }

  async function reasonToDrop(
    tx: Sql,
    mail: MailRow,
    { email }: CustomerContact,
    now: number,
  ): Promise<string | null> {
    if (Date.parse(mail.expires_at) <= now) {
      return 'its reason is too old';
    }
    if (mail.counted_at !== null) {
      return null;
    }
    const mailbox = mailboxOf(email);
    const counted = countedAlone.includes(mail.name) ? `${mail.name} ${mailbox}` : mailbox;
    const recipient = createHmac('sha256', recipientKey).update(counted).digest('base64url');
    const count = await mailQueries(tx).countOfRecipient(recipient, timestamp(now - hourMs));
    if (count >= mailsOfAddressMax) {
      return `the address got ${mailsOfAddressMax} mails within an hour`;
    }
    await mailQueries(tx).updateCounted(mail.id, recipient, timestamp(now));
    return null;
  }

  async function run(attempt: MailAttempt): Promise<SendingResult> {
    const { order_id: order } = attempt.mail;
    if (order === null) {
      return trySend(attempt);
    }
    const before = lastOfOrders.get(order);
    const sent = (async () => {
      await before;
      return trySend(attempt);
    })();
    lastOfOrders.set(order, sent);
    const result = await sent;
    if (lastOfOrders.get(order) === sent) {
      lastOfOrders.delete(order);
    }
    return result;
  }

  /** Never rejects. */
  async function trySend(attempt: MailAttempt): Promise<SendingResult> {
    try {
      return await send(attempt);
    } catch (error) {
      log.error({ err: error, mailId: attempt.mail.id }, 'a mail could not be made; it is tried again');
      return { outcome: 'later', reason: 'the mail could not be made: the log of the server says why' };
    }
  }

  async function send({ mail, contact }: MailAttempt): Promise<SendingResult> {
    const token = mail.name === 'password-reset' ? tokenOf(mail) : null;
    const variables = await readVariables(mail, contact, resetUrl(issuer(), token ?? ''));
    if (variables === null) {
      return { outcome: 'dropped', reason: 'what it is about was deleted' };
    }
    if (token !== null && !(await storeLink(mail, token))) {
      return { outcome: 'dropped', reason: 'the link is not needed any more' };
    }
    const bytes = await messageOf(mail, contact, variables);
    sender ??= openMailSender(config.mail as Exclude<MailTransport, { kind: 'off' }>);
    return (await sender).send({
      from: senderOf(config, site().name).address,
      to: contact.email,
      messageId: messageIdOf(mail, issuer()),
      bytes,
    });
  }

  /** The link is valid from now on, if the mail still waits: it is dropped with a new password, or with a newer link. */
  function storeLink({ id, customer_id }: MailRow, token: string): Promise<boolean> {
    return administration.storeMailedReset(
      customer_id,
      token,
      async (tx) => (await mailQueries(tx).find(id))?.state === 'waiting',
    );
  }

  async function messageOf(
    mail: MailRow,
    contact: CustomerContact,
    variables: MailVariables[MailName],
  ): Promise<Buffer> {
    const [{ renderMail }, { composeMessage }] = await Promise.all([
      import('./content/render.ts'),
      import('./transport/message.ts'),
    ]);
    const rendered = renderMail(await templates.read(), mail.name, variables as never);
    const { firstName, lastName, email } = contact;
    return composeMessage(
      {
        from: senderOf(config, site().name),
        to: { name: `${firstName} ${lastName}`.trim(), address: email },
        replyTo: config.mailReplyTo,
        messageId: messageIdOf(mail, issuer()),
        at: clock.now(),
      },
      rendered,
    );
  }

  return {
    kind: mailKind,
    laneMax: claimMax,
    leaseMs,
    claim,
    run,
    store,
    senderFault: fault,
    close: async () => (await sender)?.close(),
  };
}

/** Most mail servers deliver ada+1@example.com and ada+2@example.com to the mailbox of ada@example.com. */
function mailboxOf(email: string): string {
  return caseFold(email).replace(/^([^+@]+)\+[^@]*@/, '$1@');
}

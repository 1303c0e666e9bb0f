/** The mails of a shop, as the outbox sends them (jobs/outbox.ts): with the same Message-ID each time. */
import { createHmac, hkdfSync } from 'node:crypto';
import { type Clock, timestamp } from '../clock.ts';
import type { CustomerAdministration } from '../customers/administration.ts';
import type { CustomerContact, CustomerFinder } from '../customers/customer-finder.ts';
import { resetUrl } from '../customers/login/reset-token.ts';
import type { Sql } from '../database/database.ts';
import type { LeasedJob } from '../jobs/leases.ts';
import {
  type AfterCommit,
  type Lease,
  type Loaded,
  nothingLoaded,
  type OutboxContent,
} from '../jobs/outbox.ts';
import type { Log } from '../log.ts';
import { caseFold } from '../schema/case-fold.ts';
import type { Config, MailName, MailTransport } from '../settings/config.ts';
import { type AccountMails, customerWasDeleted } from './account-mails.ts';
import { type ContentDependencies, createContentReader, type ReadVariables } from './content/content.ts';
import type { TemplateStore } from './content/template-store.ts';
import type { MailVariables } from './content/variables.ts';
import { toFromAddress, toMessageId } from './from-address.ts';
import { mailKind } from './jobs.ts';
import { type MailRow, type MailState, mailQueries } from './queries.ts';
import {
  createSenderFault,
  type MailAttempt,
  nextAttempt,
  type SendingResult,
  storeMailResult,
} from './results.ts';
import { openMailSender } from './transport/open-sender.ts';
import type { MailSender } from './transport/transport.ts';

const claimMax = 16;
/** Jobs that all servers together have leased. */
const leasedMax = 1000;
const hourMs = 60 * 60_000;
const mailsOfAddressMax = 20;
/** Mails with a limit of their own: if mails about orders used it up, a customer would get no link, or no warning. */
const countedAlone: readonly MailName[] = ['password-reset', 'password-changed'];

export interface MailOutboxDependencies extends ContentDependencies {
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'error'>;
  readonly config: Pick<
    Config,
    'mail' | 'mailFrom' | 'mailReplyTo' | 'secret' | 'orderUrl' | 'shippingTimeMs'
  >;
  readonly accountMails: Pick<AccountMails, 'openAddress'>;
  readonly customerFinder: Pick<CustomerFinder, 'listContacts'>;
  readonly administration: Pick<CustomerAdministration, 'storeMailedReset'>;
  readonly templates: Pick<TemplateStore, 'read'>;
  /** A mail has ended. */
  readonly onEnd: (name: MailName, state: Exclude<MailState, 'waiting'>) => void;
}

export interface MailOutbox {
  readonly content: OutboxContent<MailAttempt, SendingResult, undefined>;
  /** Why no mail can be sent; null if that is not known. */
  senderFault(): string | null;
  /** Mails that wait for a connection are released. */
  close(): Promise<void>;
}

export function createMailOutbox(dependencies: MailOutboxDependencies): MailOutbox {
  const { clock, log, config, accountMails, customerFinder, administration } = dependencies;
  const { templates, issuer, site, onEnd } = dependencies;
  const fault = createSenderFault(clock, log);
  const recipientKey = Buffer.from(hkdfSync('sha256', config.secret, '', 'recipients of mails', 32));
  const readVariables: ReadVariables = createContentReader(dependencies);
  const tokenOf = createResetTokens(config.secret);
  /** The last mail about each order that is being sent. Those about one order wait for each other. */
  const lastOfOrders = new Map<number, Promise<SendingResult>>();
  let sender: Promise<MailSender> | null = null;

  async function load(
    tx: Sql,
    _lane: string,
    lease: Lease,
    afterCommit: AfterCommit,
  ): Promise<Loaded<MailAttempt>> {
    const reader = await mailQueries(tx).lockReader();
    if (reader?.is_paused !== 0 || fault.isActive()) {
      return nothingLoaded;
    }
    const { jobs, now } = await lease(leasedMax);
    return jobs.length === 0 ? nothingLoaded : beginAttempts(tx, jobs, now, afterCommit);
  }

  async function beginAttempts(
    tx: Sql,
    jobs: readonly LeasedJob[],
    now: number,
    afterCommit: AfterCommit,
  ): Promise<Loaded<MailAttempt>> {
    const mails = await mailQueries(tx).listByIds(jobs.map(({ key }) => Number(key)));
    const contacts = await customerFinder.listContacts(
      tx,
      mails.map(({ customer_id }) => customer_id),
    );
    const attempts: MailAttempt[] = [];
    const over: LeasedJob[] = [];
    for (const job of jobs) {
      const mail = mails.find(({ id }) => String(id) === job.key);
      if (mail?.state !== 'waiting') {
        over.push(job);
        continue;
      }
      const contact = contactOf(mail, contacts.get(mail.customer_id));
      const problem = contact === null ? customerWasDeleted : await reasonToDrop(tx, mail, contact, now);
      if (contact === null || problem !== null) {
        over.push(job);
        await mailQueries(tx).drop([mail.id], problem ?? customerWasDeleted, timestamp(now));
        afterCommit(() => onEnd(mail.name, 'dropped'));
      } else {
        attempts.push({ job, mail, contact });
      }
    }
    return { attempts: attempts.sort((a, b) => a.mail.id - b.mail.id), over };
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

  async function sendInTurn(attempt: MailAttempt): Promise<SendingResult> {
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
      const result = await send(attempt);
      fault.note(result);
      return result;
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
      from: toFromAddress(config, site().name).address,
      to: contact.email,
      messageId: toMessageId(mail, issuer()),
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
        from: toFromAddress(config, site().name),
        to: { name: `${firstName} ${lastName}`.trim(), address: email },
        replyTo: config.mailReplyTo,
        messageId: toMessageId(mail, issuer()),
        at: clock.now(),
      },
      rendered,
    );
  }

  return {
    content: {
      kind: mailKind,
      laneMax: claimMax,
      storesTogether: false,
      load,
      send: sendInTurn,
      next: nextAttempt,
      // Results lock their mails only.
      lock: async () => undefined,
      async end(tx, _, finished, afterCommit) {
        const { mail } = finished.attempt;
        const state = await storeMailResult(tx, finished);
        afterCommit(() => {
          if (state !== null) {
            onEnd(mail.name, state);
          }
          if (state === 'failed') {
            const { reason } = finished.result;
            log.warn({ mailId: mail.id, mail: mail.name, reason }, 'a mail could not be sent');
          }
        });
      },
    },
    senderFault: fault.reason,
    close: async () => (await sender)?.close(),
  };
}

/** Most mail servers deliver ada+1@example.com and ada+2@example.com to the mailbox of ada@example.com. */
function mailboxOf(email: string): string {
  return caseFold(email).replace(/^([^+@]+)\+[^@]*@/, '$1@');
}

/**
 * Tokens of links for a new password in mails. They are derived from the secret and the mail, so a repeated mail has the
 * same link, and no table contains the token: only its hash, when the mail is sent.
 * @param secret CURD_SECRET
 */
function createResetTokens(
  secret: string,
): (mail: Pick<MailRow, 'id' | 'customer_id' | 'created_at'>) => string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'password reset mails', 32));
  // The time is a part, because ids can come back if a database is restored.
  return ({ id, customer_id, created_at }) =>
    createHmac('sha256', key)
      .update(JSON.stringify([id, customer_id, created_at]))
      .digest('base64url');
}

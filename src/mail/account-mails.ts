/**
 * Mails about the account of a customer. They are added in the transaction of the change, and not made of an event: an
 * event must not contain the old e-mail address, and of a request for a link nobody but the customer should learn.
 */
import { type Clock, timestamp } from '../clock.ts';
import type { ChangedCustomer } from '../customers/hook-points.ts';
import type { Context } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { createSealer, type Sealer } from '../sealing.ts';
import type { Config, MailName } from '../settings/config.ts';
import { sendsMail } from '../settings/mail.ts';
import { addMail, dropMails } from './jobs.ts';
import { mailQueries } from './queries.ts';

const hourMs = 60 * 60_000;

interface Dependencies {
  readonly clock: Clock;
  readonly config: Pick<Config, 'mail' | 'mails' | 'secret' | 'resetLimits'>;
}

export type AccountMails = ReturnType<typeof createAccountMails>;

export function createAccountMails({ clock, config }: Dependencies) {
  const sealer: Sealer = createSealer(clock, config.secret, 'old addresses of customers');
  const boundTo = (customerId: number) => `customer:${customerId}`;
  const isSent = (name: MailName) => sendsMail(config, name);

  async function drop(tx: Sql, customerId: number, name: MailName | null, reason: string): Promise<void> {
    await dropMails(tx, await mailQueries(tx).listWaitingOf(customerId, name), reason, clock.now());
  }

  return {
    /** Links that were requested by mail end with the old password. */
    async onPasswordChange(tx: Sql, _: Context, { id }: ChangedCustomer) {
      await drop(tx, id, 'password-reset', 'the password was changed');
      if (isSent('password-changed')) {
        await addMail(tx, { name: 'password-changed', customer_id: id }, clock.now());
      }
    },

    async onEmailChange(
      tx: Sql,
      _: Context,
      { id, oldEmail }: ChangedCustomer & { readonly oldEmail: string },
    ) {
      if (isSent('email-changed')) {
        const sealed_address = sealer.seal(oldEmail, boundTo(id));
        await addMail(tx, { name: 'email-changed', customer_id: id, sealed_address }, clock.now());
      }
    },

    async onCustomerDelete(tx: Sql, _: Context, { id }: ChangedCustomer) {
      await drop(tx, id, null, customerWasDeleted);
    },

    /** Does nothing beyond the limit of the customer. A mail with an older link that waits is dropped. */
    async addReset(tx: Sql, customerId: number) {
      const since = timestamp(clock.now() - hourMs);
      const requested = await mailQueries(tx).countSince(customerId, 'password-reset', since);
      if (requested < config.resetLimits.customer) {
        await drop(tx, customerId, 'password-reset', 'a newer link was requested');
        await addMail(tx, { name: 'password-reset', customer_id: customerId }, clock.now());
      }
    },

    /** null if it was sealed with another secret. */
    openAddress: (customerId: number, sealed: string): string | null =>
      sealer.open(sealed, boundTo(customerId))?.toString() ?? null,
  };
}

export const customerWasDeleted = 'the customer was deleted';

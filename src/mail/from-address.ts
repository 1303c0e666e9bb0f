/** What the heads of all mails have in common. */
import type { Config } from '../settings/config.ts';
import type { MailAddress } from '../settings/mail.ts';
import type { MailRow } from './queries.ts';

/** The sender of all mails. If mails go to files, there is one without CURD_MAIL_FROM. */
export function toFromAddress({ mailFrom }: Pick<Config, 'mailFrom'>, shopName: string): MailAddress {
  return mailFrom ?? { name: shopName, address: 'shop@localhost' };
}

/** The Message-ID does not change with the attempts to send a mail: a program that gets it twice can recognize it. */
export function toMessageId(
  { id, event_id, name, customer_id }: Pick<MailRow, 'id' | 'event_id' | 'name' | 'customer_id'>,
  publicUrl: string,
): string {
  return `${event_id ?? `mail_${id}`}.${name}.${customer_id}@${new URL(publicUrl).hostname}`;
}

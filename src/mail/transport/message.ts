/** A mail as the bytes that are sent. Loaded with the first mail, because nodemailer is large. */
import MailComposer from 'nodemailer/lib/mail-composer';
import type { MailAddress } from '../../settings/mail.ts';
import type { RenderedMail } from '../content/render.ts';

type Content = Omit<RenderedMail, 'html'> & { readonly html: string | null };

export interface MessageHead {
  readonly from: MailAddress;
  readonly to: MailAddress;
  readonly replyTo: MailAddress | null;
  /** The Message-ID without angle brackets. */
  readonly messageId: string;
  readonly at: number;
}

/** Names and addresses are structured values: nothing in them can become a header. */
export function composeMessage(head: MessageHead, { subject, text, html }: Content): Promise<Buffer> {
  const { from, to, replyTo, messageId, at } = head;
  const composer = new MailComposer({
    from: plainName(from),
    to: plainName(to),
    ...(replyTo === null ? {} : { replyTo: plainName(replyTo) }),
    subject,
    text,
    ...(html === null ? {} : { html }),
    messageId: `<${messageId}>`,
    date: new Date(at),
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

/** Stored names have no control characters; a header could not contain them. */
function plainName({ name, address }: MailAddress): MailAddress {
  return { name: name.replace(/\p{Cc}+/gu, ' '), address };
}

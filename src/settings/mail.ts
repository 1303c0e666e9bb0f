/** The mails of a shop, and how they can be sent. */

/** Every mail that the shop can send. */
export const mailNames = [
  'order-placed',
  'order-shipped',
  'order-ready',
  'order-delivered',
  'order-cancelled',
  'password-reset',
  'password-changed',
  'email-changed',
  'key-created',
] as const;
export type MailName = (typeof mailNames)[number];

export interface SmtpServer {
  readonly kind: 'smtp';
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte on. Otherwise STARTTLS. */
  readonly isImplicitTls: boolean;
  /** Whether a connection without TLS, or with a certificate that cannot be verified, is refused. */
  readonly isVerified: boolean;
  readonly login: { readonly user: string; readonly password: string } | null;
}

export type MailTransport =
  | SmtpServer
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'off' };

/** A sender: a name, which may be empty, and an e-mail address. */
export interface MailAddress {
  readonly name: string;
  readonly address: string;
}

/** Requests for a link to set a new password that are permitted within an hour. */
export interface ResetLimits {
  readonly customer: number;
  readonly clientIp: number;
}

/** Whether a shop with these settings sends this mail. */
export function sendsMail(
  { mail, mails }: { readonly mail: MailTransport; readonly mails: readonly MailName[] },
  name: MailName,
): boolean {
  return mail.kind !== 'off' && mails.includes(name);
}

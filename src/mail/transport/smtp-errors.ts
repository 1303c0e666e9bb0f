/** SMTP errors: whether a mail is sent again later, is refused, or the mail server refuses this sender altogether. */
import type { MailResult } from './transport.ts';

/** Errors of nodemailer, with what the server said. */
export interface SmtpError extends Error {
  readonly code?: string;
  /** The code of Node.js, if `code` is that of nodemailer. */
  readonly originalCode?: string;
  readonly command?: string;
  readonly responseCode?: number;
}

const reasonLengthMax = 300;
const tlsFailure = /CERT|TLS|SSL/;

/** Commands before a mail: what the server refuses there, it refuses for every mail. */
const beforeMail = ['CONN', 'EHLO', 'HELO', 'STARTTLS', 'MAIL FROM'];

/** The command of an error that the SMTP client found by itself. */
const beforeSending = 'API';

export function resultOfError(error: SmtpError): MailResult {
  const { code = '', originalCode = '', command = '', responseCode = 0 } = error;
  const reason = textOf(error);
  const isPermanent = responseCode >= 500;
  const isTls = code === 'ETLS' || tlsFailure.test(originalCode);
  if (code === 'EAUTH' || isTls || (isPermanent && beforeMail.includes(command))) {
    return { outcome: 'senderRefused', reason };
  }
  if (code === 'EENVELOPE' && command === beforeSending) {
    return { outcome: 'refused', reason: 'SMTP cannot carry the address, or the mail server cannot' };
  }
  return { outcome: isPermanent ? 'refused' : 'later', reason };
}

const unreachable = /ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND/;

function textOf({ message }: SmtpError): string {
  const text = withoutAddresses(message);
  return unreachable.test(message) ? `the mail server does not respond (${text})` : text;
}

/**
 * Servers repeat the address, which must be neither in the log nor in the list of mails. Control characters would change
 * a terminal, and PostgreSQL stores no NUL.
 */
function withoutAddresses(text: string): string {
  return text
    .split(/[\s\p{Cc}]/u)
    .filter((word) => word !== '')
    .map((word) => (word.includes('@') ? '…' : word))
    .join(' ')
    .slice(0, reasonLengthMax)
    .toWellFormed();
}

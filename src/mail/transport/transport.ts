/** A transport of mails. */

/** A mail that is ready to be sent. */
export interface Outgoing {
  readonly from: string;
  readonly to: string;
  readonly messageId: string;
  readonly bytes: Buffer;
}

/**
 * `sent`: the server has accepted it. `later`: try again. `refused`: the server refuses this mail for good. `senderRefused`:
 * no mail can be sent, because the server refuses the sign-in, the sender or TLS. `stopped`: it was not tried, because this
 * server stops.
 */
export type MailOutcome = 'sent' | 'later' | 'refused' | 'senderRefused' | 'stopped';

export interface MailResult {
  readonly outcome: MailOutcome;
  /** What the mail server said, without e-mail addresses; null if a mail server has accepted it. */
  readonly reason: string | null;
}

export interface MailSender {
  send(mail: Outgoing): Promise<MailResult>;
  /** Mails that have not begun are `stopped`. */
  close(): void;
}

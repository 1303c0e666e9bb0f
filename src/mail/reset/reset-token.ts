/**
 * Tokens of links for a new password in mails. They are derived from the secret and the mail, so a repeated mail has the
 * same link, and no table contains the token: only its hash, when the mail is sent.
 */
import { createHmac, hkdfSync } from 'node:crypto';
import type { MailRow } from '../queries.ts';

/** @param secret CURD_SECRET */
export function createResetTokens(
  secret: string,
): (mail: Pick<MailRow, 'id' | 'customer_id' | 'created_at'>) => string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'password reset mails', 32));
  // The time is a part, because ids can come back where a database is restored.
  return ({ id, customer_id, created_at }) =>
    createHmac('sha256', key)
      .update(JSON.stringify([id, customer_id, created_at]))
      .digest('base64url');
}

/** Sends a test mail at once, outside of the list of mails. */
import type { Clock } from '../clock.ts';
import type { Site } from '../http/area.ts';
import type { Config } from '../settings/config.ts';
import { toFromAddress } from './from-address.ts';
import { openMailSender } from './transport/open-sender.ts';
import type { MailResult } from './transport/transport.ts';

type TestMail = (address: string, onLine: (line: string) => void) => Promise<MailResult>;

interface Dependencies {
  readonly config: Pick<Config, 'mail' | 'mailFrom' | 'mailReplyTo'>;
  readonly site: () => Site;
  readonly clock: Clock;
  readonly issuer: () => string;
}

/** The function that sends one; null if mail is off. */
export function createTestMail({ config, site, clock, issuer }: Dependencies): TestMail | null {
  const { mail, mailReplyTo } = config;
  if (mail.kind === 'off') {
    return null;
  }
  return async (address, onLine) => {
    const { composeMessage } = await import('./transport/message.ts');
    const { name: shopName } = site();
    const from = toFromAddress(config, shopName);
    const messageId = `test_${clock.uuid()}@${new URL(issuer()).hostname}`;
    const text = `This is a test mail of ${shopName}. It shows that mails of the shop arrive.`;
    const bytes = await composeMessage(
      { from, to: { name: '', address }, replyTo: mailReplyTo, messageId, at: clock.now() },
      { subject: `${shopName}: a test mail`, text, html: null },
    );
    const sender = await openMailSender(mail, onLine);
    try {
      return await sender.send({ from: from.address, to: address, messageId, bytes });
    } finally {
      sender.close();
    }
  };
}

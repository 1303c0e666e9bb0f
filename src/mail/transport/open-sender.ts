/** Opens the transport of the settings: over SMTP, or into a folder. */
import type { MailTransport } from '../../settings/mail.ts';
import type { MailSender } from './transport.ts';

/** @param onLine receives each line between the mail server and Curd, without the password */
export async function openMailSender(
  transport: Exclude<MailTransport, { kind: 'off' }>,
  onLine: ((line: string) => void) | null = null,
): Promise<MailSender> {
  if (transport.kind === 'folder') {
    const { createFolderSender } = await import('./folder.ts');
    return createFolderSender(transport.folder);
  }
  const { createSmtpSender } = await import('./smtp.ts');
  return createSmtpSender(transport, onLine);
}

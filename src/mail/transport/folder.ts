/** Writes each mail to a file, so that a new shop shows its mails without a mail server. */
import { hash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toReason } from '../../system-errors.ts';
import type { MailSender } from './transport.ts';

const writtenToFile = 'written to a file, because no mail server is set';

export function createFolderSender(folder: string): MailSender {
  return {
    async send({ messageId, bytes }) {
      const file = join(folder, fileNameOf(messageId));
      try {
        await mkdir(folder, { recursive: true });
        // Readers of the folder never see a part of a file. A repeated mail replaces the first.
        await writeFile(`${file}.part`, bytes);
        await rename(`${file}.part`, file);
        return { outcome: 'sent', reason: writtenToFile };
      } catch (error) {
        return { outcome: 'later', reason: `The file could not be written: ${toReason(error)}` };
      }
    },
    close() {},
  };
}

/** Names with other characters, and long ones, get a digest. */
function fileNameOf(messageId: string): string {
  const name = messageId.split('@', 1)[0] ?? '';
  return /^[\w.-]{1,120}$/.test(name) ? `${name}.eml` : `${hash('sha256', messageId).slice(0, 32)}.eml`;
}

import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { emailRule } from '../../../schema/text-rules.ts';
import type { MailName } from '../../../settings/config.ts';
import { ConfigError } from '../../../settings/parsers.ts';
import { toReason } from '../../../system-errors.ts';
import type { CommandOptions, OptionsOf } from '../../framework/options.ts';
import { pluralize, printResult } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';
import type { previewMailOptions } from '../../framework/shop-options.ts';

const failedExitCode = 2;

/** Prints a mail without sending it. */
export function previewMail(name: MailName, options: OptionsOf<typeof previewMailOptions>): Promise<void> {
  return withShop(options, async ({ mail: { previews } }) => {
    const { order, html } = options;
    const rendered = await (order === undefined ? previews.sample(name) : previews.ofOrder(name, order));
    printResult(options, rendered, html ? rendered.html : `Subject: ${rendered.subject}\n\n${rendered.text}`);
  });
}

/** Sends a test mail and prints the conversation with the mail server. */
export function sendTestMail(address: string, options: CommandOptions): Promise<void> {
  if (!emailRule.test(address)) {
    throw new ConfigError(`"${address}" is no e-mail address. Give one such as ada@example.com.`);
  }
  return withShop(options, async ({ mail: { testMail }, config }) => {
    if (testMail === null) {
      throw new ConfigError(
        'Mail is off, so nothing can be sent. Set CURD_MAIL to smtp://user:password@host:587, or to file:<folder> outside of production.',
      );
    }
    const lines: string[] = [];
    const { outcome, reason } = await testMail(address, (line) => {
      lines.push(line);
      if (!options.json) {
        process.stdout.write(`${line}\n`);
      }
    });
    const where =
      config.mail.kind === 'folder' ? `written to ${config.mail.folder}` : 'accepted by the mail server';
    const text = outcome === 'sent' ? `The mail was ${where}.` : `The mail was not sent: ${reason}`;
    printResult(options, { outcome, reason, lines }, text);
    if (outcome !== 'sent') {
      process.exitCode = failedExitCode;
    }
  });
}

/** Writes the built-in templates. Existing files are not replaced. */
export async function exportTemplates(
  _action: string,
  folder: string,
  options: CommandOptions,
): Promise<void> {
  const { readBuiltInTemplates } = await import('../../../mail/content/templates.ts');
  const templates = Object.entries(await readBuiltInTemplates());
  const target = resolve(folder);
  try {
    await mkdir(target, { recursive: true });
    for (const [file, text] of templates) {
      await writeFile(join(target, file), text, { flag: 'wx' });
    }
  } catch (error) {
    throw new ConfigError(`The templates could not be written to ${target}: ${toReason(error)}.`);
  }
  printResult(
    options,
    { folder: target, files: templates.map(([file]) => file) },
    `${pluralize(templates.length, 'template')} written to ${target}. Keep those that you change, and start the server with --mail-templates ${target}`,
  );
}

/** Lets a copied or restored shop send mails. */
export function resumeMails(options: CommandOptions): Promise<void> {
  return withShop(options, async ({ mail: { pause } }) => {
    const wasPaused = await pause.resume();
    printResult(
      options,
      { wasPaused },
      wasPaused ? 'Mails are sent again. A running server begins within a second.' : 'Mails were not paused.',
    );
  });
}

/** Drops what waits. */
export function discardMails(options: CommandOptions): Promise<void> {
  return withShop(options, async ({ mail: { pause } }) => {
    const dropped = await pause.discard();
    printResult(
      options,
      { dropped },
      `${pluralize(dropped, 'mail')} dropped. Mails of later events are sent.`,
    );
  });
}

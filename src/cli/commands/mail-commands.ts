/** The commands on mails to customers. */
import { mailNames } from '../../settings/mail.ts';
import { parseEnum, parseText } from '../../settings/parsers.ts';
import { type CommandDefinition, command } from '../framework/command-definition.ts';
import { argument, textArgument } from '../framework/options.ts';
import { previewMailOptions } from '../framework/shop-options.ts';

const templateActions = ['export'] as const;

export const mailCommands: readonly CommandDefinition[] = [
  command({
    name: 'mail preview',
    summary: 'print a mail, with invented data or with those of an order',
    help: 'Uses the templates of the settings (--mail-templates), and reports an invalid one.',
    examples: ['mail preview order-shipped --order 11'],
    arguments: [{ ...argument('mail', parseEnum(mailNames)), choices: mailNames }],
    options: previewMailOptions,
    load: async () => (await import('./shop/mail.ts')).previewMail,
  }),
  command({
    name: 'mail test',
    summary: 'send a test mail, and print what the mail server says',
    help: 'Exit status 2: the mail was not accepted.',
    examples: ['mail test ada@example.com'],
    arguments: [argument('address', parseText)],
    load: async () => (await import('./shop/mail.ts')).sendTestMail,
  }),
  command({
    name: 'mail templates',
    summary: 'export: write the templates of Curd to a folder, to change some of them',
    help: 'Keep the files that you change, and delete the others: they are then those of Curd, also after an upgrade. --mail-templates <folder> uses them.',
    examples: ['mail templates export templates'],
    arguments: [
      { ...argument('action', parseEnum(templateActions)), choices: templateActions },
      textArgument('folder'),
    ],
    load: async () => (await import('./shop/mail.ts')).exportTemplates,
  }),
  command({
    name: 'mail resume',
    summary: 'send mails again, after this shop was copied or restored',
    examples: ['mail resume'],
    load: async () => (await import('./shop/mail.ts')).resumeMails,
  }),
  command({
    name: 'mail discard',
    summary: 'drop all mails that wait, and send those of later events',
    examples: ['mail discard'],
    load: async () => (await import('./shop/mail.ts')).discardMails,
  }),
];

/** The settings of mail, a part of the settings table, and their parsers. */
import { join, resolve } from 'node:path';
import { emailRule } from '../schema/text-rules.ts';
import { parseResetLimits } from './limit-parsers.ts';
import { type MailAddress, type MailName, type MailTransport, mailNames } from './mail.ts';
import { ConfigError, type Parser } from './parsers.ts';
import type { Setting } from './setting.ts';
import { isLoopback } from './urls.ts';

const addressLengthMax = 254;
const displayLengthMax = 100;

/** The message never repeats a URL, because it may contain a password. */
function parseMail(text: string, name: string, environment: string): MailTransport {
  if (text === 'off') {
    return { kind: 'off' };
  }
  if (text.startsWith('file:') && text.length > 'file:'.length) {
    if (environment === 'production') {
      throw new ConfigError(
        `${name} is "${text}": production would send no mail to customers. Set it to smtp://, smtps:// or off.`,
      );
    }
    return { kind: 'folder', folder: resolve(text.slice('file:'.length)) };
  }
  const url = URL.parse(text);
  const isInsecure = url?.search === '?tls=insecure';
  const isSmtp = url?.protocol === 'smtp:' || url?.protocol === 'smtps:';
  if (
    url === null ||
    !isSmtp ||
    url.hostname === '' ||
    !/^\/?$/.test(url.pathname) ||
    (url.search !== '' && !isInsecure) ||
    url.hash !== '' ||
    (url.username === '') !== (url.password === '')
  ) {
    throw new ConfigError(
      `${name} is not understood: set it to smtp://user:password@host:587, smtps://user:password@host:465, file:<folder> or off. Characters such as @, : and / in a password are written as %40, %3A and %2F.`,
    );
  }
  if (isInsecure && environment === 'production') {
    throw new ConfigError(
      `${name} has tls=insecure: production checks the certificate of the mail server. Leave it out.`,
    );
  }
  const isImplicitTls = url.protocol === 'smtps:';
  return {
    kind: 'smtp',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isImplicitTls ? 465 : 587) : Number(url.port),
    isImplicitTls,
    isVerified: !isInsecure && !isLoopback(url.hostname),
    login:
      url.username === ''
        ? null
        : { user: decoded(url.username, name), password: decoded(url.password, name) },
  };
}

function decoded(text: string, name: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConfigError(`${name} has a % in its user or password that encodes nothing: write it as %25.`);
  }
}

/** `Fromagerie <shop@example.com>`, or the e-mail address alone. */
const parseAddress: Parser<MailAddress> = (text, name) => {
  const [, before = '', inBrackets] = /^([^<>]*)<([^<>]*)>\s*$/.exec(text) ?? [];
  const address = (inBrackets ?? text).trim();
  const display = before.trim().replace(/^"(.*)"$/, '$1');
  if (
    !emailRule.test(address) ||
    address.length > addressLengthMax ||
    display.length > displayLengthMax ||
    /[\p{Cc}"]/u.test(display)
  ) {
    throw new ConfigError(
      `${name} is "${text}": set it to a name of at most ${displayLengthMax} characters and an e-mail address of at most ${addressLengthMax}, such as "Fromagerie <shop@example.com>".`,
    );
  }
  return { name: display, address };
};

const parseMails: Parser<MailName[]> = (text, name) => {
  const names = text === 'none' ? [] : text.split(',').map((name) => name.trim());
  const unknown = names.find((candidate) => !mailNames.includes(candidate as MailName));
  if (unknown !== undefined) {
    throw new ConfigError(
      `${name} contains "${unknown}": set it to none, or to some of ${mailNames.join(', ')}, separated by commas.`,
    );
  }
  return [...new Set(names as MailName[])];
};

const parseOrderUrl: Parser<string> = (text, name) => {
  const url = URL.parse(text.replace('{id}', '31'));
  if (url === null || !/^https?:$/.test(url.protocol) || !text.includes('{id}')) {
    throw new ConfigError(
      `${name} is "${text}": set it to an http or https URL with {id} for the number of the order, such as https://shop.example/orders/{id}.`,
    );
  }
  return text;
};

/** The rows of the settings table, sorted as `--help` prints them. */
export const mailSettings = {
  mail: {
    variable: 'CURD_MAIL',
    placeholder: 'url',
    help: 'how mails to customers are sent: smtp://user:password@host:587, smtps://..., file:<folder> (not in production) or off',
    default: ({ environment, dataDir }) =>
      environment === 'local' ? `file:${join(dataDir, 'mail')}` : 'off',
    defaultText: 'file: in the data folder in local, off elsewhere',
    parse: (text, name, { environment }): MailTransport => parseMail(text, name, environment),
  },
  mailFrom: {
    variable: 'CURD_MAIL_FROM',
    placeholder: 'sender',
    help: 'sender of mails: "Fromagerie <shop@example.com>"; required with smtp: and smtps:',
    default: () => null,
    defaultText: 'the name of the shop at localhost, for file: alone',
    requiredBecause: ({ mail }) =>
      mail.kind === 'smtp' ? 'mails over SMTP need a sender, such as "Fromagerie <shop@example.com>".' : null,
    parse: (text, name): MailAddress | null => parseAddress(text, name),
  },
  mailReplyTo: {
    variable: 'CURD_MAIL_REPLY_TO',
    placeholder: 'address',
    help: 'where replies to mails go, if not to the sender',
    default: 'none',
    parse: (text, name): MailAddress | null => (text === 'none' ? null : parseAddress(text, name)),
  },
  mails: {
    variable: 'CURD_MAILS',
    placeholder: 'list',
    help: 'which mails are sent, separated by commas, or none; order-delivered can be added',
    default: mailNames.filter((name) => name !== 'order-delivered').join(','),
    parse: parseMails,
  },
  mailTemplates: {
    variable: 'CURD_MAIL_TEMPLATES',
    placeholder: 'folder',
    help: 'folder with templates that replace those of Curd; "curd mail templates export" writes them',
    default: 'built-in',
    parse: (text): string | null => (text === 'built-in' ? null : resolve(text)),
  },
  orderUrl: {
    variable: 'CURD_ORDER_URL',
    placeholder: 'url',
    help: "the shop's own page of an order, for links in mails: https://shop.example/orders/{id}",
    default: 'none',
    parse: (text, name): string | null => (text === 'none' ? null : parseOrderUrl(text, name)),
  },
  resetLimits: {
    variable: 'CURD_RESET_LIMITS',
    placeholder: 'json',
    help: 'requests for a link to set a new password within an hour: for a customer, and from a client IP',
    default: '{"customer":3,"clientIp":10}',
    parse: parseResetLimits,
  },
} as const satisfies Readonly<Record<string, Setting>>;

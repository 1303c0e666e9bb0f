/** Text rules that schemas of several areas use. */
import { isIP } from 'node:net';
import { parseTime } from '../clock.ts';
import { durationMax, parseDuration } from '../duration.ts';
import type { TextRule } from './schema.ts';

const control = /\p{Cc}/u;

/**
 * Text without characters that nobody sees, such as overrides of the direction, soft hyphens and characters of no width:
 * they hide text, or make two names look the same. A variation selector may follow a character, and a joiner may be
 * between two characters: emoji, Persian and several Indic scripts need them.
 */
const visibleText =
  /^(?:[^\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800][\ufe0e\ufe0f]?(?:\p{Join_Control}(?!$))?)*$/u;

/** Removes the blanks of Unicode at both ends. Texts that the rules refuse in any case stay as they are. */
export function trimBlanks(text: string): string {
  return /[\p{Cc}\ufeff]/u.test(text) ? text : text.trim();
}

/** What browsers accept in an input of type email (HTML, section 4.10.5.1.5). */
const emailAddress =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;

/** A name, or another text in one line. */
export const lineRule: TextRule = {
  clean: trimBlanks,
  test: (text) => /\S/u.test(text) && visibleText.test(text),
  message:
    'must contain at least one visible character and no control or invisible characters (joiners between two characters are allowed)',
};

/** One line that may be empty. */
export const optionalLineRule: TextRule = {
  clean: trimBlanks,
  test: (text) => visibleText.test(text),
  message: 'must not contain control or invisible characters (joiners between two characters are allowed)',
};

/** What programs that show mails make a link of, except a host name alone: "Dr.Huber" could be one. */
const url = /:\/\/|\bwww\.|[\p{L}\d]\.\p{L}{2,}\//iu;

/**
 * The rule for parts of names of people and of their addresses. Anybody can register with an e-mail address of another
 * person, who then gets mails with these texts.
 */
export const withoutUrl = (rule: TextRule): TextRule => ({
  ...rule,
  test: (text) => rule.test(text) && !url.test(text),
  message: `${rule.message}, and no URL`,
});

/** What is searched for. Invisible characters are ignored there. */
export const searchRule: TextRule = {
  clean: trimBlanks,
  test: (text) => /\S/u.test(text) && !control.test(text),
  message: 'must contain at least one visible character and no control characters',
};

/** The rule of schemas without one. PostgreSQL stores no NUL. */
export const noControlRule: TextRule = {
  test: (text) => !control.test(text),
  message: 'must not contain control characters',
};

/** Any text. It must not reach a statement unchecked. */
export const anyTextRule: TextRule = { test: () => true, message: '' };

/** Several lines, kept exactly as sent. */
export const multilineRule: TextRule = {
  test: (text) => !/[^\P{Cc}\t\n\r]/u.test(text),
  message: 'must not contain control characters other than tabs and line breaks',
};

export const emailRule: TextRule = {
  clean: trimBlanks,
  test: (text) => emailAddress.test(text),
  message: 'must be an email address such as ada@example.com',
};

/** RFC 3339, section 5.6. */
export const timestampRule: TextRule = {
  test: (text) => !Number.isNaN(parseTime(text)),
  message: 'must be a timestamp such as 2026-01-15T09:30:00Z',
};

export const durationRule: TextRule = {
  test: (text) => parseDuration(text) !== null,
  message: `must be a whole number and a unit, such as 15m, 24h or 90d, and at most ${durationMax}`,
};

/** A duration above zero. */
export const lifetimeRule: TextRule = {
  test: (text) => (parseDuration(text) ?? 0) > 0,
  message: `must be a whole number above 0 and a unit, such as 24h or 90d, and at most ${durationMax}`,
};

/** An IP address, or a network in CIDR form. */
export const networkRule: TextRule = {
  test: (text) => {
    const [ip = '', bits = '0', ...rest] = text.split('/');
    const bitsMax = isIP(ip) === 6 ? 128 : 32;
    return isIP(ip) !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax && rest.length === 0;
  },
  message: 'must be an IP address or a network such as 203.0.113.0/24',
};

/** An id in a list of ids. */
export const idRule: TextRule = {
  test: (text) => /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)),
  message: 'must contain ids only',
};

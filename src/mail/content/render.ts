/** Fills the templates of a mail. Loaded with the first mail. */
import Mustache from 'mustache';
import type { MailName } from '../../settings/mail.ts';
import { partsFor, selectTemplates, type Templates } from './template-files.ts';
import type { MailVariables } from './variables.ts';

export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const subjectLengthMax = 200;

export function renderMail<Name extends MailName>(
  templates: Templates,
  name: Name,
  variables: MailVariables[Name],
): RenderedMail {
  const { subject, text, html } = selectTemplates(templates, name);
  const inText = { escape: (value: unknown) => String(value) };
  const textParts = partsFor(templates, 'txt');
  return {
    // One line, whatever is in a name.
    subject: Mustache.render(subject, variables, textParts, inText)
      .replace(/[\p{Cc}\s]+/gu, ' ')
      .trim()
      .slice(0, subjectLengthMax),
    text: Mustache.render(text, variables, textParts, inText),
    html: Mustache.render(html, variables, partsFor(templates, 'html'), { escape: escapeHtml }),
  };
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Mustache alone also replaces slashes and equals signs, which makes links unreadable in the source of a mail. */
function escapeHtml(value: unknown): string {
  return String(value).replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

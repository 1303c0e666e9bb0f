/** The files of templates, and which of them a mail uses. */
import { type MailName, mailNames } from '../../settings/mail.ts';

/** The endings of the templates of a mail. */
export const templateEndings = ['subject.txt', 'txt', 'html'] as const;

/** Templates that others include, in text and in HTML. */
const partNames = ['order.txt', 'order.html', 'head.html', 'foot.html', 'foot.txt'];
/** All files, by their names. */
export const templateFiles: readonly string[] = [
  ...mailNames.flatMap((name) => templateEndings.map((ending) => `${name}.${ending}`)),
  ...partNames,
];

/** The texts of templates by file name. */
export type Templates = Readonly<Record<string, string>>;

/** The parts that a template may include, by the name in `{{> name}}`: those of its own format. */
export function partsFor(templates: Templates, ending: string): Readonly<Record<string, string>> {
  const format = ending.endsWith('html') ? '.html' : '.txt';
  return Object.fromEntries(
    partNames
      .filter((file) => file.endsWith(format))
      .map((file) => [file.slice(0, -format.length), templates[file] ?? '']),
  );
}

/** The three templates of a mail. */
export function selectTemplates(templates: Templates, name: MailName) {
  const [subject = '', text = '', html = ''] = templateEndings.map(
    (ending) => templates[`${name}.${ending}`],
  );
  return { subject, text, html };
}

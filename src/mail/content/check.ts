/** Checks that a template is valid, and uses only variables that its mail has. */
import { join } from 'node:path';
import Mustache from 'mustache';
import type { MailName } from '../../settings/mail.ts';
import { ConfigError } from '../../settings/parsers.ts';
import { partsFor, type Templates } from './template-files.ts';
import { toVariableTree } from './variables.ts';

/** A token of mustache: `#` and `^` are sections, `&` is a value without escaping, `>` includes a part. */
type Token = readonly [kind: string, value: string, start: number, end: number, tokens?: readonly Token[]];

const depthMax = 10;

/** @throws ConfigError that names the file and the variable */
export function checkTemplate(templates: Templates, name: MailName, file: string, folder: string): void {
  const parts = partsFor(templates, file);
  const isHtml = file.endsWith('.html');

  function fail(where: string, problem: string): never {
    throw new ConfigError(`CURD_MAIL_TEMPLATES: ${join(folder, where)}: ${problem}`);
  }

  function parse(text: string, where: string): readonly Token[] {
    try {
      return Mustache.parse(text) as unknown as readonly Token[];
    } catch (error) {
      return fail(where, `${(error as Error).message}. Correct the template.`);
    }
  }

  function check(tokens: readonly Token[], context: readonly unknown[], where: string, depth: number): void {
    for (const [kind, value, , , inner = []] of tokens) {
      // Text, and comments.
      if (kind === 'text' || kind === '!') {
        continue;
      }
      if (kind === '=') {
        fail(where, 'it changes the delimiters, which is not supported. Use {{ and }}.');
      }
      if (kind === '>') {
        const part = parts[value];
        if (part === undefined || depth > depthMax) {
          fail(
            where,
            `{{> ${value}}} is unknown. The parts of this format are ${Object.keys(parts).join(', ')}.`,
          );
        }
        check(
          parse(part, `${value}${isHtml ? '.html' : '.txt'}`),
          context,
          `${value}${isHtml ? '.html' : '.txt'}`,
          depth + 1,
        );
        continue;
      }
      if (kind === '&' && isHtml) {
        fail(
          where,
          `${value} would be written without escaping, so a customer's name could add HTML to the mail. Write {{${value}}}.`,
        );
      }
      const found = lookUp(context, value);
      if (found === undefined) {
        fail(
          where,
          `the mail ${name} has no variable "${value}" there. It has ${namesIn(context).join(', ')}: see docs/mail.md.`,
        );
      }
      if (kind === '#') {
        check(inner, [...context, Array.isArray(found) ? found[0] : found], where, depth);
      } else if (kind === '^') {
        check(inner, context, where, depth);
      }
    }
  }
  check(parse(templates[file] ?? '', file), [toVariableTree(name)], file, 0);
}

/** The value of a name as mustache finds it: the first part in any section around, the rest below it. */
function lookUp(context: readonly unknown[], name: string): unknown {
  if (name === '.') {
    return context.at(-1);
  }
  const [first = '', ...rest] = name.split('.');
  const around = context.findLast((scope) => isObject(scope) && Object.hasOwn(scope, first));
  return rest.reduce<unknown>(
    (value, part) => (isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined),
    isObject(around) ? around[first] : undefined,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

const namesIn = (context: readonly unknown[]) => [
  ...new Set(context.flatMap((scope) => (isObject(scope) ? Object.keys(scope) : []))),
];

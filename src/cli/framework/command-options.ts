/** Options of several commands, and of those on the server and the database. */
import { parseTime, systemClock } from '../../clock.ts';
import type { TextRule } from '../../schema/schema.ts';
import {
  ConfigError,
  type Parser,
  parseDatabase,
  parseImages,
  parseInteger,
} from '../../settings/parsers.ts';
import { booleanOption, option, requiredOption } from './options.ts';

/** A parser of an id as the commands print it. @param what "API key" @param hint where the ids are shown */
export function parseId(what: string, hint: string): Parser<number> {
  return (text) => {
    if (!/^[1-9]\d{0,14}$/.test(text)) {
      const article = /^[aeiou]/i.test(what) ? 'an' : 'a';
      throw new ConfigError(`"${text}" is not the id of ${article} ${what}. ${hint}`);
    }
    return Number(text);
  };
}

/** A parser of a text that has to obey a rule of the API. */
export function parseByRule({ test, message }: TextRule): Parser<string> {
  return (text, name) => {
    if (!test(text)) {
      throw new ConfigError(`${name} is "${text}": it ${message}.`);
    }
    return text;
  };
}

/** The help of commands that print a secret. */
export const secretHelp =
  'Standard output has the secret only, so that a variable of a shell can take it. Everything else is on standard error.';

export const changeOptions = {
  dryRun: booleanOption('print what the command would change, and change nothing'),
};

export const serveOptions = {
  allowSecondServer: booleanOption('start even if another server has the SQLite database open'),
  ephemeral: booleanOption(
    'for one test run: a free port, and a new local shop with a movable clock, which is deleted at the end',
  ),
  stopWithStdin: booleanOption(
    'stop when standard input ends, which is when the program that started it ends',
  ),
};

export const consoleOptions = { open: booleanOption('also open it in the browser of this machine') };

export const changeEnvironmentOptions = {
  dryRun: booleanOption('print what would be removed, and change nothing'),
};

export const doctorOptions = {
  repair: booleanOption(
    'first count again what can be counted: stock, orders, uses of discount codes, statistics',
  ),
  noRecord: booleanOption('do not store the result, which GET /v2/integrity lists'),
};

export const resetOptions = {
  yes: booleanOption('confirm that all of it is deleted'),
};

export const restoreOptions = {
  yes: booleanOption('confirm that a shop with data is replaced'),
  idGap: requiredOption('number', 'how many ids are left out', parseInteger(0, 1_000_000_000), '10000'),
};

export const backupOptions = {
  keep: option(
    'number',
    'delete all but the newest backups of this folder or file name',
    parseInteger(1, 999_999),
  ),
};

export const copyOptions = {
  from: option(
    'database',
    'source: sqlite:<file> or postgres://... (default: the database of the settings)',
    parseDatabase,
  ),
  to: requiredOption('database', 'target: postgres://... or sqlite:<file>', parseDatabase),
  fromImages: option(
    'location',
    'images of the source: file:<folder> or s3://bucket/prefix (default: the folder beside an SQLite file, or the settings)',
    parseImages,
  ),
  toImages: option(
    'location',
    'images of the target (default: beside an SQLite file; otherwise they are not copied)',
    parseImages,
  ),
};

const parsePastTime: Parser<number> = (text, name) => {
  const time = parseTime(text);
  if (!(time >= 0 && time <= systemClock.now())) {
    throw new ConfigError(`${name} is "${text}": set it to a past time such as 2026-01-15T09:00:00Z.`);
  }
  return time;
};

export const seedOptions = {
  customers: requiredOption('number', 'how many customers, 1 to 2000', parseInteger(1, 2_000), '200'),
  orders: requiredOption('number', 'how many orders, 0 to 10000', parseInteger(0, 10_000), '1000'),
  seed: requiredOption(
    'number',
    'another number gives other customers and orders',
    parseInteger(0, 2 ** 31 - 1),
    '7',
  ),
  until: option('time', 'end of the 90 days, RFC 3339 (default: the last full hour)', parsePastTime),
};

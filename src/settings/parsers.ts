/** Parsers of settings and command options. Each error message says what to set instead. */

import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { durationMax, parseDuration } from '../duration.ts';
import { networkRule } from '../schema/text-rules.ts';
import { isLoopback } from './urls.ts';

/** `auto` uses every processor, up to this number. */
const autoProcessesMax = 16;
const processesMax = 64;

/**
 * Turns the text of a setting or an option into a value.
 * @param name the variable, option or argument, for the error message
 * @throws ConfigError
 */
export type Parser<T> = (text: string, name: string) => T;

/** Parses a JSON object whose members replace those of the default. */
export type MapParser<T> = (text: string, name: string, context: { readonly defaultText: string }) => T;

export const environments = ['local', 'sandbox', 'production'] as const;
export type Environment = (typeof environments)[number];

/** Total of delivered orders, in the currency of the shop, from which a customer has a tier; below `silver` it is bronze. */
export interface TierThresholds {
  readonly silver: number;
  readonly gold: number;
  readonly platinum: number;
}

export type DatabaseLocation =
  | { readonly engine: 'sqlite'; readonly file: string }
  | { readonly engine: 'postgres'; readonly file: null; readonly url: string };

export type ImageLocation =
  | { readonly kind: 'folder'; readonly folder: string }
  /** The prefix ends in a slash, or is empty. */
  | { readonly kind: 'bucket'; readonly bucket: string; readonly prefix: string };

/** A setting or an option that cannot be used. The message says what to set instead. */
export class ConfigError extends Error {}

/** Any text. */
export const parseText: Parser<string> = (text) => text;

/** The name of the shop, as pages show it. */
export const parseShopName: Parser<string> = (text, name) => {
  const characters = [...text].length;
  if (characters > 60 || !/\S/u.test(text) || /\p{Cc}/u.test(text)) {
    throw new ConfigError(`${name} must have 1 to 60 characters, and no control characters.`);
  }
  return text;
};

/** A parser of one of these words. */
export function parseEnum<const T extends string>(allowed: readonly T[]): Parser<T> {
  return (text, name) => {
    const found = allowed.find((candidate) => candidate === text);
    if (found === undefined) {
      throw new ConfigError(`${name} is "${text}": set it to one of ${allowed.join(', ')}.`);
    }
    return found;
  };
}

/** A parser of `true` and `false`. */
export const parseBoolean: Parser<boolean> = (text, name) =>
  parseEnum(['true', 'false'])(text, name) === 'true';

/** A parser of whole numbers from `min` to `max`. */
export function parseInteger(min: number, max: number): Parser<number> {
  return (text, name) => {
    const number = Number(text);
    if (!/^\d{1,15}$/.test(text) || number < min || number > max) {
      throw new ConfigError(`${name} is "${text}": set it to a whole number from ${min} to ${max}.`);
    }
    return number;
  };
}

/** Words, separated by spaces or commas, each of which `parse` accepts. */
export function parseWords<T>(parse: Parser<T>): Parser<T[]> {
  return (text, name) =>
    text
      .split(/[\s,]+/)
      .filter((word) => word !== '')
      .map((word) => parse(word, name));
}

/** A parser of durations from `min` to `max`, both as text. Returns milliseconds. */
export function parseDurationFrom(min: string, max = durationMax): Parser<number> {
  return durationParser(min, max, '');
}

/** A parser of such durations, and of a word for which the value is null. */
export function parseDurationOr(word: string, min: string, max = durationMax): Parser<number | null> {
  const parse = durationParser(min, max, `, or to ${word}`);
  return (text, name) => (text === word ? null : parse(text, name));
}

function durationParser(min: string, max: string, otherwise: string): Parser<number> {
  const [minMs, maxMs] = [Number(parseDuration(min)), Number(parseDuration(max))];
  return (text, name) => {
    const milliseconds = parseDuration(text);
    if (milliseconds === null || milliseconds < minMs || milliseconds > maxMs) {
      throw new ConfigError(
        `${name} is "${text}": set it to a duration from ${min} to ${max}${otherwise}. A duration is a whole number and a unit, such as 500ms, 15m, 24h or 90d.`,
      );
    }
    return milliseconds;
  };
}

export function parseJsonObject(text: string, name: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value;
    }
  } catch {
    // Reported below.
  }
  throw new ConfigError(`${name} is "${text}": set it to a JSON object.`);
}

/** A JSON object of numbers. Members that it leaves out are those of the default. */
export function parseNumberMap<T extends object>(
  text: string,
  name: string,
  defaultText: string,
  { min, max, isWhole }: { readonly min: number; readonly max: number; readonly isWhole: boolean },
): T {
  const defaults: T = JSON.parse(defaultText);
  const map = parseJsonObject(text, name);
  const isValid = ([member, value]: [string, unknown]) =>
    Object.hasOwn(defaults, member) &&
    typeof value === 'number' &&
    value >= min &&
    value <= max &&
    (Number.isInteger(value) || !isWhole);
  if (!Object.entries(map).every(isValid)) {
    throw new ConfigError(
      `${name} is "${text}": set it to JSON such as ${defaultText}, with ${isWhole ? 'whole ' : ''}numbers from ${min} to ${max}.`,
    );
  }
  return { ...defaults, ...map };
}

/** An http or https URL without a trailing slash. */
export const parseUrl: Parser<string> = (text, name) => {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new ConfigError(`${name} is "${text}": set it to an http or https URL without a query.`);
  }
  return url.href.replace(/\/$/, '');
};

/** The URL of the server. In production it is https, so that credentials are encrypted on their way. */
export function parsePublicUrl(environment: Environment): Parser<string> {
  return (text, name) => {
    const url = parseUrl(text, name);
    const { protocol, hostname } = new URL(url);
    if (environment === 'production' && protocol !== 'https:' && !isLoopback(hostname)) {
      throw new ConfigError(`${name} is "${text}": production needs https, unless the host is loopback.`);
    }
    return url;
  };
}

/** `*`, or values that browsers send as Origin. */
export const parseOrigins: Parser<string[]> = (text, name) => {
  const origins = text.split(',').map((origin) => origin.trim());
  const invalid = origins.find((origin) => origin !== '*' && URL.parse(origin)?.origin !== origin);
  if (invalid !== undefined) {
    throw new ConfigError(
      `${name} contains "${invalid}": set it to * or to origins such as https://shop.example.`,
    );
  }
  return origins;
};

/** IP addresses and networks; `none` for an empty list. */
export const parseProxies: Parser<string[]> = (text, name) => {
  if (text === 'none') {
    return [];
  }
  const proxies = text.split(',').map((proxy) => proxy.trim());
  for (const proxy of proxies) {
    if (!networkRule.test(proxy)) {
      throw new ConfigError(
        `${name} contains "${proxy}": set it to IP addresses or networks such as 10.0.0.0/8.`,
      );
    }
  }
  return proxies;
};

export const parseTiers: MapParser<TierThresholds> = (text, name, { defaultText }) => {
  const tiers = parseNumberMap<TierThresholds>(text, name, defaultText, {
    min: 0,
    max: 1_000_000_000,
    isWhole: false,
  });
  if (tiers.silver > tiers.gold || tiers.gold > tiers.platinum) {
    throw new ConfigError(`${name} must rise from silver to gold to platinum.`);
  }
  return tiers;
};

export const parseDatabase: Parser<DatabaseLocation> = (text, name) => {
  if (text.startsWith('sqlite:') && text.length > 'sqlite:'.length) {
    return { engine: 'sqlite', file: resolve(text.slice('sqlite:'.length)) };
  }
  // One URL may list several servers, one of which is the primary: postgres://one:5432,two:5432/name.
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text.replace(/(:\d+)?,[^/?]*/, ''))) {
    return { engine: 'postgres', file: null, url: text };
  }
  throw new ConfigError(
    `${name} is not understood: set it to sqlite:<file> or postgres://user:password@host/name. Characters such as @, : and / in a password are written as %40, %3A and %2F.`,
  );
};

export const parseImages: Parser<ImageLocation> = (text, name) => {
  if (text.startsWith('file:') && text.length > 'file:'.length) {
    return { kind: 'folder', folder: resolve(text.slice('file:'.length)) };
  }
  const [, bucket, path = ''] =
    /^s3:\/\/([a-z\d][a-z\d.-]{1,61}[a-z\d])(?:\/([\w!.*'()/-]{0,512}))?$/.exec(text) ?? [];
  if (bucket === undefined) {
    throw new ConfigError(`${name} is "${text}": set it to file:<folder> or s3://bucket/prefix.`);
  }
  return { kind: 'bucket', bucket, prefix: path.replace(/([^/])$/, '$1/') };
};

/** The default location of images in a data folder. */
export function imagesIn(folder: string): ImageLocation & { readonly kind: 'folder' } {
  return { kind: 'folder', folder: join(folder, 'images') };
}

/** How many server processes share the port. */
export function parseProcesses(text: string, name: string): number {
  return text === 'auto'
    ? Math.min(autoProcessesMax, availableParallelism())
    : parseInteger(1, processesMax)(text, name);
}

/** A parser that accepts nothing but the default in production. */
export function outsideProduction<T>(
  inProduction: string,
  parse: Parser<T>,
): (text: string, name: string, context: { readonly environment: Environment }) => T {
  return (text, name, { environment }) => {
    const value = parse(text, name);
    if (environment === 'production' && text !== inProduction) {
      throw new ConfigError(
        `${name} is "${text}": that is for tests in local and sandbox shops. A production shop has ${inProduction}: remove the setting.`,
      );
    }
    return value;
  };
}

export const parseClockMode = outsideProduction('system', parseEnum(['system', 'movable']));

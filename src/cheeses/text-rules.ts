/** Rules for the texts of cheeses. */
import type { TextRule } from '../schema/schema.ts';
import { lineRule, optionalLineRule } from '../schema/text-rules.ts';

/** Query parameters separate tags by commas. */
export const tagRule: TextRule = {
  test: (text) => lineRule.test(text) && !text.includes(','),
  message: 'must contain at least one visible character, and no commas or control characters',
};

/** A URL that web pages show as an image. Schemes that can carry a script or name a local file are refused. */
export const photoUrlRule: TextRule = {
  test: (text) => optionalLineRule.test(text) && !/^\s*(javascript|data|file)\s*:/i.test(text),
  message: 'must be a URL without control characters, and not of the scheme javascript, data or file',
};

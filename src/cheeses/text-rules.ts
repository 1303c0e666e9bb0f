/** Rules for the texts of cheeses. */
import type { TextRule } from '../schema/schema.ts';
import { lineRule } from '../schema/text-rules.ts';

/** Query parameters separate tags by commas. */
export const tagRule: TextRule = {
  ...lineRule,
  test: (text) => lineRule.test(text) && !text.includes(','),
  message:
    'must contain at least one visible character, and no commas, control or invisible characters (joiners between two characters are allowed)',
};

/** A URL that web pages show as an image. Schemes that can carry a script or name a local file are refused. */
export const photoUrlRule: TextRule = {
  ...lineRule,
  test: (text) => lineRule.test(text) && !/^(javascript|data|file)\s*:/i.test(text),
  message:
    'must be a URL without control or invisible characters, and not of the scheme javascript, data or file',
};

/** Named kinds of text that schemas refer to by `format`, each with the words for what does not fit. */
import { parseDuration } from '../duration.ts';

interface Format {
  readonly test: (text: string) => boolean;
  readonly says: string;
}

const control = /\p{Cc}/u;

export const formats: Readonly<Record<string, Format>> = {
  /** One line of visible text, kept exactly as sent. */
  line: {
    test: (text) => /\S/u.test(text) && !control.test(text),
    says: 'must hold at least one visible character and no control characters',
  },
  tag: {
    test: (text) => /\S/u.test(text) && !control.test(text) && !text.includes(','),
    says: 'must hold at least one visible character, and neither commas nor control characters',
  },
  /** An address for a web page to show. Schemes that carry a script or a local file are refused. */
  'photo-url': {
    test: (text) => !control.test(text) && !/^\s*(javascript|data|file)\s*:/i.test(text),
    says: 'must be an address without control characters, and not of the scheme javascript, data or file',
  },
  duration: {
    test: (text) => parseDuration(text) !== null,
    says: 'must be a whole number and a unit, such as 15m, 24h or 90d',
  },
  lifetime: {
    test: (text) => (parseDuration(text) ?? 0) > 0,
    says: 'must be a whole number above 0 and a unit, such as 24h or 90d',
  },
};

/** A response as it is stored. */
import { validationError } from '../errors.ts';

/** The largest response of a usual request is that of a bulk change, with 3 million. */
const responseCharactersMax = 5_000_000;

/** A response in a form that can be stored. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; empty if the response has no body. */
  readonly text: string;
}

/** Texts begin with the JSON of status and headers, encrypted ones are base64. */
export function isText(stored: string): boolean {
  return stored.startsWith('{');
}

export function storedText({ text, ...head }: StoredResponse): string {
  return `${JSON.stringify(head)}\n${text}`;
}

export function parseStored(stored: string): StoredResponse {
  const end = stored.indexOf('\n');
  return { ...JSON.parse(stored.slice(0, end)), text: stored.slice(end + 1) };
}

/** Is called before the commit, so nothing is changed. @throws AppError validation */
export function requireStorable({ text }: StoredResponse): void {
  if (text.length > responseCharactersMax) {
    throw validationError([
      {
        field: '',
        message: `the response would have ${text.length} characters, and ${responseCharactersMax} can be stored for an Idempotency-Key: send fewer entries at once`,
      },
    ]);
  }
}

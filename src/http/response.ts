/** What a handler returns, and what a route documents of it. */
import type { Readable } from 'node:stream';
import type { Schema } from '../schema/schema.ts';
import type { Asset } from './asset.ts';

/** Text that goes out as it is, JSON unless the route says otherwise. */
export class TextBody {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Text that is made piece by piece, as quickly as the client reads it: not for HEAD. No piece is empty. */
export class TextStream {
  readonly open: () => AsyncIterable<string>;

  constructor(open: () => AsyncIterable<string>) {
    this.open = open;
  }
}

/** Bytes that are read only where they are sent: not for HEAD, and not where the client has them already. */
export class FileBody {
  readonly open: () => Promise<Readable>;

  constructor(open: () => Promise<Readable>) {
    this.open = open;
  }
}

/** What a handler answers. `body` is a value to be serialised, ready text, a stream of text, bytes, static content, or nothing. */
export interface RouteResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?:
    | TextBody
    | TextStream
    | FileBody
    | Asset
    | Readonly<Record<string, unknown>>
    | readonly unknown[];
}

/** What a route may answer, by status: a schema of JSON, other media types, or words alone where there is no body. */
export type DocumentedResponses = Readonly<
  Record<
    number,
    {
      readonly description: string;
      readonly schema?: Schema;
      /** Other than JSON. */
      readonly mediaTypes?: readonly string[];
      /** Where the schema has none of its own. */
      readonly example?: unknown;
    }
  >
>;

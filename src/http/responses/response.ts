/** Responses of handlers, and their description in a route. */
import type { Readable } from 'node:stream';
import type { Schema } from '../../schema/schema.ts';
import type { Asset } from './asset.ts';

/** Text that is sent unchanged: JSON, unless the route has another media type. */
export class TextBody {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Text that is produced in pieces, as fast as the client reads them. It is not opened for HEAD. No piece is empty. */
export class TextStream {
  readonly open: () => AsyncIterable<string>;

  constructor(open: () => AsyncIterable<string>) {
    this.open = open;
  }
}

/** Bytes that are read when they are sent: not for HEAD, and not for a 304. */
export class FileBody {
  readonly open: () => Promise<Readable>;

  constructor(open: () => Promise<Readable>) {
    this.open = open;
  }
}

/** What a handler returns. A `body` that is a plain object or array is serialized as JSON. */
export interface RouteResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Names of what the response depends on, if a cache may keep it: see public-response.ts. */
  readonly cacheTags?: readonly string[];
  readonly body?:
    | TextBody
    | TextStream
    | FileBody
    | Asset
    | Readonly<Record<string, unknown>>
    | readonly unknown[];
}

/** A response that nobody stores, because it is about one caller or changes at any time. */
export function uncached(status: number, body: object): RouteResponse {
  return { status, headers: { 'Cache-Control': 'no-store' }, body: body as RouteResponse['body'] & object };
}

/** The responses of a route by status: with a schema for JSON, with other media types, or with a description only. */
export type DocumentedResponses = Readonly<
  Record<
    number,
    {
      readonly description: string;
      readonly schema?: Schema;
      /** If the body is not JSON. */
      readonly mediaTypes?: readonly string[];
      /** If the schema has no examples. */
      readonly example?: unknown;
    }
  >
>;

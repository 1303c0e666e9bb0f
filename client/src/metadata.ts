/** What a response says besides its body travels with the body, without changing it. */
import { parseRateLimit, type RateLimit } from './rate-limit.ts';

/** The response of which a result is the body. */
export interface ResponseMetadata {
  readonly status: number;
  /** `X-Request-Id`. The operator finds the request in the log by it. */
  readonly requestId: string | undefined;
  /** The version of the resource, for `ifMatch`. */
  readonly etag: string | undefined;
  /** Whether an earlier request with the same idempotency key made the change. */
  readonly isReplay: boolean;
  readonly rateLimit: RateLimit;
  /** How often the request was sent. */
  readonly attempts: number;
}

const metadataKey = Symbol.for('@curd/client.metadata');

/** The response of a result; undefined for what is no result of this client, such as an item of a list or a copy. */
export function metadataOf(result: object): ResponseMetadata | undefined {
  return (result as { [metadataKey]?: ResponseMetadata })[metadataKey];
}

/** The version of a resource, for `ifMatch`; undefined if the operation has none, and for items of a list. */
export function etagOf(result: object): string | undefined {
  return metadataOf(result)?.etag;
}

/** The metadata is not enumerable: copies and comparisons see the body alone. */
export function attachMetadata<T>(body: T, response: Response, attempts: number): T {
  if (typeof body === 'object' && body !== null) {
    const { status, headers } = response;
    const value: ResponseMetadata = {
      status,
      requestId: headers.get('X-Request-Id') ?? undefined,
      etag: headers.get('ETag') ?? undefined,
      isReplay: headers.get('Idempotency-Replayed') === 'true',
      rateLimit: parseRateLimit(headers.get('RateLimit')),
      attempts,
    };
    Object.defineProperty(body, metadataKey, { value });
  }
  return body;
}

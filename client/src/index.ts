/** The typed client of the Curd API. */
import { Api } from './api.ts';
import { Cheeses } from './areas/cheeses.ts';
import { Events } from './areas/events.ts';
import { Areas } from './areas/generated.ts';
import { Idempotency } from './areas/idempotency.ts';
import { Orders } from './areas/orders.ts';
import { Http } from './http.ts';
import type { CurdOptions } from './options.ts';
import { parseRateLimit, type RateLimit } from './rate-limit.ts';

export type { WaitOptions } from './areas/orders.ts';
export * from './errors.ts';
export type { StreamOptions } from './events.ts';
export { etagOf, metadataOf, type ResponseMetadata } from './metadata.ts';
export type {
  Attempt,
  AttemptResult,
  CallOptions,
  CurdOptions,
  Outcome,
  Retry,
  TokenSource,
  Warning,
  WriteOptions,
} from './options.ts';
export { List, type ListOf, type Page } from './pages.ts';
export type { RateLimit } from './rate-limit.ts';
export type { components, operations, paths } from './schema.ts';
export type {
  Address,
  ApiKey,
  Body,
  Cheese,
  CheeseChange,
  CheeseImage,
  CurdEvent,
  Customer,
  EventPattern,
  EventType,
  Order,
  OrderItem,
  Query,
  Result,
  Stock,
  WebhookDelivery,
  WebhookEndpoint,
} from './types.ts';
export { type ImportOptions, thumbnailOf, type UploadOptions, type UploadProgress } from './upload.ts';

/** A client of one shop, with one credential. */
export class Curd extends Areas {
  readonly cheeses = new Cheeses(this.api);
  readonly events = new Events(this.api);
  readonly idempotency = new Idempotency(this.api);
  readonly orders = new Orders(this.api);
  /**
   * Every path of the API, also one without a verb here. Typed by `paths`:
   * `await curd.http.get('/v2/cheeses/{cheeseId}', { path: { cheeseId: 7 } })`.
   */
  readonly http: Pick<Api, 'get' | 'post' | 'put' | 'patch' | 'delete'>;
  readonly #http: Http;

  constructor(options: CurdOptions | Http) {
    const http = options instanceof Http ? options : new Http(options);
    super(new Api(http));
    this.#http = http;
    this.http = this.api;
  }

  /**
   * This client for one customer: the API key acts for the owner of the session. The view is cheap, so a server makes one
   * for each request that it serves. It uses the connections and limits of this client.
   * @param session the token of a login
   * @param options.clientIp the IP address of the visitor, which limits of logins and registrations then count
   * @throws TypeError if the session is undefined or null
   */
  as(session: string, { clientIp }: { readonly clientIp?: string | undefined } = {}): Curd {
    // A cookie may be missing. Without a session, the shop itself would read and order.
    if (typeof session !== 'string') {
      throw new TypeError('as() needs the token of a login. Ask the customer to log in.');
    }
    return new Curd(this.#http.onBehalfOf({ token: session, clientIp }));
  }

  /** What remained of the limits after the last response. */
  get rateLimit(): RateLimit {
    return parseRateLimit(this.#http.rateLimit);
  }
}

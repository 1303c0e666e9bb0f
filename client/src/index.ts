/** The typed client of the Curd API. */
import { Api } from './api.ts';
import { ApiKeys, Console, Credential, Idempotency, Limits } from './areas/access.ts';
import { Accounts, Approvals, OauthClients } from './areas/administration.ts';
import { Categories, Cheeses, Inventory, Tags } from './areas/cheeses.ts';
import { Customers } from './areas/customers.ts';
import { Demo } from './areas/demo.ts';
import { Events } from './areas/events.ts';
import { Mails } from './areas/mails.ts';
import { Integrity, Statistics, Status } from './areas/operation.ts';
import { Orders } from './areas/orders.ts';
import { Requests } from './areas/requests.ts';
import { Sandbox, Snapshots } from './areas/sandbox.ts';
import { Stock } from './areas/stock.ts';
import { WebhookDeliveries, WebhookEndpoints } from './areas/webhooks.ts';
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
export class Curd {
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly approvals: Approvals;
  readonly cheeses: Cheeses;
  readonly console: Console;
  readonly credential: Credential;
  readonly idempotency: Idempotency;
  readonly customers: Customers;
  readonly demo: Demo;
  readonly events: Events;
  readonly categories: Categories;
  readonly tags: Tags;
  readonly inventory: Inventory;
  readonly limits: Limits;
  readonly mails: Mails;
  readonly oauthClients: OauthClients;
  readonly orders: Orders;
  readonly requests: Requests;
  readonly sandbox: Sandbox;
  readonly snapshots: Snapshots;
  readonly statistics: Statistics;
  readonly integrity: Integrity;
  readonly status: Status;
  readonly stock: Stock;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly webhookEndpoints: WebhookEndpoints;
  /**
   * Every path of the API, also one without a verb here. Typed by `paths`:
   * `await curd.http.get('/v2/cheeses/{cheeseId}', { path: { cheeseId: 7 } })`.
   */
  readonly http: Pick<Api, 'get' | 'post' | 'put' | 'patch' | 'delete'>;
  readonly #http: Http;

  constructor(options: CurdOptions | Http) {
    const http = options instanceof Http ? options : new Http(options);
    const api = new Api(http);
    this.#http = http;
    this.http = api;
    this.accounts = new Accounts(api);
    this.apiKeys = new ApiKeys(api);
    this.approvals = new Approvals(api);
    this.cheeses = new Cheeses(api);
    this.console = new Console(api);
    this.credential = new Credential(api);
    this.idempotency = new Idempotency(api);
    this.customers = new Customers(api);
    this.demo = new Demo(api);
    this.events = new Events(api);
    this.categories = new Categories(api);
    this.tags = new Tags(api);
    this.inventory = new Inventory(api);
    this.limits = new Limits(api);
    this.mails = new Mails(api);
    this.oauthClients = new OauthClients(api);
    this.orders = new Orders(api);
    this.requests = new Requests(api);
    this.sandbox = new Sandbox(api);
    this.snapshots = new Snapshots(api);
    this.statistics = new Statistics(api);
    this.integrity = new Integrity(api);
    this.status = new Status(api);
    this.stock = new Stock(api);
    this.webhookDeliveries = new WebhookDeliveries(api);
    this.webhookEndpoints = new WebhookEndpoints(api);
  }

  /**
   * This client for one customer: the API key acts for the owner of the session. The view is cheap, so a server makes one
   * for each request that it serves. It uses the connections and limits of this client.
   * @param session the token of a login
   * @param options.clientIp the IP address of the visitor, which limits of logins and registrations then count
   * @throws TypeError where the session is undefined or null
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

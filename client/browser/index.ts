/** A shop in a web page without a server of its own: a publishable key, and the login of a customer. */
import { Api } from '../src/api.ts';
import { Cheeses } from '../src/areas/cheeses.ts';
import { Categories, Customers, Shop, Tags } from '../src/areas/generated.ts';
import { Http } from '../src/http.ts';
import type { CallOptions, CurdOptions } from '../src/options.ts';
import type { Body, Customer } from '../src/types.ts';
import { CustomerOrders } from './orders.ts';
import { Session } from './session.ts';
import { memoryEntry, sessionEntry } from './storage.ts';

export { CurdError, type ErrorType, type FieldError, isCurdError } from '../src/errors.ts';
export { etagOf, metadataOf } from '../src/metadata.ts';
export type { CallOptions, WriteOptions } from '../src/options.ts';
export type { Address, Body, Cheese, CheeseImage, Customer, Order, Query, Result } from '../src/types.ts';
export { thumbnailOf } from '../src/upload.ts';

export interface BrowserShopOptions
  extends Pick<CurdOptions, 'maxRetries' | 'timeoutMs' | 'fetch' | 'onWarning'> {
  /** URL of the Curd server: `https://api.shop.example`. */
  readonly url: string;
  /** `pk_live_...` or `pk_test_...`. It needs the scope `write:orders` if the page places orders. */
  readonly publishableKey: string;
  /**
   * The place of the login. `memory`, the default: a reload logs out. `session`: in `sessionStorage`, until the tab is closed;
   * every script of the page can read it there.
   */
  readonly storage?: 'memory' | 'session' | undefined;
}

/** The shop of a page. It has the verbs that a publishable key permits. */
export interface BrowserShop {
  readonly cheeses: Pick<
    Cheeses,
    | 'list'
    | 'get'
    | 'listImages'
    | 'listPrices'
    | 'getAvailability'
    | 'listAvailability'
    | 'listChanges'
    | 'findByStatus'
  >;
  readonly categories: Pick<Categories, 'list'>;
  readonly tags: Pick<Tags, 'list'>;
  /** Its name, and the currency of all prices. */
  readonly shop: Pick<Shop, 'get'>;
  /** The profile of the customer. */
  readonly customers: Pick<Customers, 'get' | 'replace' | 'delete'>;
  /** The orders of the customer. */
  readonly orders: Pick<
    CustomerOrders,
    | 'place'
    | 'quote'
    | 'list'
    | 'get'
    | 'getTimeline'
    | 'getShipment'
    | 'cancel'
    | 'wait'
    | 'unconfirmed'
    | 'resume'
  >;
  /** The customer who is logged in; null before a login, and after it has ended. */
  readonly username: string | null;
  /** Logs a customer in. */
  login(login: Body<'loginCustomer'>, options?: CallOptions): Promise<void>;
  /** Ends the login, here in any case and on the server. */
  logout(options?: CallOptions): Promise<void>;
  /** Registers a customer, without a login. */
  register(customer: Body<'registerCustomer'>, options?: CallOptions): Promise<Customer>;
  /** Mails a customer a link to set a new password. The result is the same if there is no such customer. */
  requestPasswordReset(login: Body<'requestPasswordReset'>, options?: CallOptions): Promise<void>;
}

/** Opens a shop, without a request. @throws TypeError */
export function createShop(options: BrowserShopOptions): BrowserShop {
  const { url, publishableKey, storage = 'memory', maxRetries, timeoutMs, onWarning } = options;
  requirePublishable(publishableKey);
  const send: typeof fetch = options.fetch ?? ((target, init) => fetch(target, init));
  const shared = { baseUrl: url, maxRetries, timeoutMs, onWarning };
  // With the key in the URL and no header of its own, a request needs no preflight. Everybody sees the same catalogue.
  const keyed: typeof fetch = (target, init) =>
    send(`${target}${String(target).includes('?') ? '&' : '?'}key=${publishableKey}`, init);
  const catalogue = new Api(new Http({ ...shared, fetch: keyed }));

  const sessionKey = `curd.session.${url}`;
  const session = new Session(storage === 'session' ? sessionEntry(sessionKey) : memoryEntry());
  const token = (refused?: string) => session.token(refused);
  const api = new Api(new Http({ ...shared, fetch: send, apiKey: publishableKey, token }));
  const customers = new Customers(api);
  // An order is no credential, and a reload must not forget it.
  const orders = new CustomerOrders(api, session, sessionEntry(`curd.order.${url}`));

  return {
    cheeses: new Cheeses(catalogue),
    categories: new Categories(catalogue),
    tags: new Tags(catalogue),
    shop: new Shop(catalogue),
    customers,
    orders,
    get username() {
      return session.username;
    },
    async login(login, callOptions) {
      session.begin({ ...(await customers.login(login, callOptions)), username: login.username });
    },
    async logout(callOptions) {
      try {
        if (session.username !== null) {
          await customers.logoutSafely(callOptions);
        }
      } catch (error) {
        // A token that the server refused has ended already.
        if (session.username !== null) {
          throw error;
        }
      } finally {
        session.end();
        orders.forget();
      }
    },
    register: (customer, callOptions) => customers.register(customer, callOptions),
    async requestPasswordReset(login, callOptions) {
      await customers.requestPasswordReset(login, callOptions);
    },
  };
}

function requirePublishable(key: string): void {
  if (!/^pk_(live|test)_\w+$/.test(key)) {
    throw new TypeError(
      String(key).startsWith('sk_')
        ? 'publishableKey is a secret key, and every visitor of this page can read it. Revoke it, and create one with: curd keys create --publishable.'
        : 'publishableKey must begin with pk_live_ or pk_test_. Create one with: curd keys create --publishable.',
    );
  }
}

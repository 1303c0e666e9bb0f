import type { CallOptions, Outcome, WriteOptions } from '../options.ts';
import type { ListOf } from '../pages.ts';
import type { Body, Customer, Order, Query, Result } from '../types.ts';
import { Area } from './area.ts';

/** Customers: registration, login, profiles, and their own orders. */
export class Customers extends Area {
  /** Registers a customer. A server gives the IP address of its visitor as `clientIp`. */
  register<Options extends WriteOptions>(
    customer: Body<'registerCustomer'>,
    options?: Options,
  ): Promise<Outcome<Options, Customer>> {
    return this.api.post('/v2/customer', { body: customer }, options);
  }

  /** Registers up to 100 customers. The result lists those that were refused. */
  registerAll<Options extends WriteOptions>(
    customers: Body<'registerCustomers'>,
    options?: Options,
  ): Promise<Outcome<Options, Result<'registerCustomers'>>> {
    return this.api.post('/v2/customer/createMultiple', { body: customers }, options);
  }

  /**
   * Logs a customer in. The token is the `session` of another client. A server gives the IP address of its visitor as
   * `clientIp`: without it, wrong passwords of one visitor stop the logins of all.
   */
  login(login: Body<'loginCustomer'>, options?: CallOptions): Promise<Result<'loginCustomer'>> {
    return this.api.post('/v2/customer/login', { body: login }, options);
  }

  /** Mails a customer a link to set a new password. A server gives the IP address of its visitor as `clientIp`. */
  requestPasswordReset(
    login: Body<'requestPasswordReset'>,
    options?: CallOptions,
  ): Promise<Result<'requestPasswordReset'>> {
    return this.api.post('/v2/customer/password-reset', { body: login }, options);
  }

  /** Ends the session, by GET. */
  logout(options?: CallOptions): Promise<void> {
    return this.api.get('/v2/customer/logout', {}, options);
  }

  /** Ends the session, by POST. */
  logoutSafely(options?: CallOptions): Promise<void> {
    return this.api.post('/v2/customer/logout', {}, options);
  }

  /** Returns a profile. */
  get(username: string, options?: CallOptions): Promise<Customer> {
    return this.api.get('/v2/customer/{username}', { path: { username } }, options);
  }

  /** Replaces a profile. */
  replace<Options extends WriteOptions>(
    username: string,
    customer: Body<'replaceCustomer'>,
    options?: Options,
  ): Promise<Outcome<Options, Customer>> {
    return this.api.put('/v2/customer/{username}', { path: { username }, body: customer }, options);
  }

  /** Deletes a customer. */
  delete<Options extends WriteOptions>(username: string, options?: Options): Promise<Outcome<Options, void>> {
    return this.api.delete('/v2/customer/{username}', { path: { username } }, options);
  }

  /** Searches customers, or lists the newest. */
  list(filters?: Query<'listCustomers'>, options?: CallOptions): ListOf<'listCustomers'> {
    return this.api.list('/v2/customers', { query: filters }, options);
  }

  /** Returns a customer by id, with role and total of delivered orders. */
  getById(customerId: number, options?: CallOptions): Promise<Result<'getCustomerById'>> {
    return this.api.get('/v2/customers/{customerId}', { path: { customerId } }, options);
  }

  /** Makes a customer staff, or customer again. */
  changeRole<Options extends WriteOptions>(
    customerId: number,
    role: Body<'changeCustomerRole'>,
    options?: Options,
  ): Promise<Outcome<Options, Result<'changeCustomerRole'>>> {
    return this.api.post('/v2/customers/{customerId}/role', { path: { customerId }, body: role }, options);
  }

  /** Ends all sessions of a customer. */
  endSessions<Options extends WriteOptions>(
    customerId: number,
    options?: Options,
  ): Promise<Outcome<Options, void>> {
    return this.api.delete('/v2/customers/{customerId}/sessions', { path: { customerId } }, options);
  }

  /** Makes a link with which a customer sets a new password. The response contains it once. */
  createPasswordReset(customerId: number, options?: CallOptions): Promise<Result<'createPasswordReset'>> {
    return this.api.post('/v2/customers/{customerId}/password-reset', { path: { customerId } }, options);
  }

  /** Lists the notes of operators about a customer, the newest first. */
  listNotes(
    customerId: number,
    page?: Query<'listCustomerNotes'>,
    options?: CallOptions,
  ): ListOf<'listCustomerNotes'> {
    return this.api.list('/v2/customers/{customerId}/notes', { path: { customerId }, query: page }, options);
  }

  /** Adds a note about a customer, who never sees it. */
  createNote<Options extends WriteOptions>(
    customerId: number,
    note: Body<'createCustomerNote'>,
    options?: Options,
  ): Promise<Outcome<Options, Result<'createCustomerNote'>>> {
    return this.api.post('/v2/customers/{customerId}/notes', { path: { customerId }, body: note }, options);
  }

  /** Lists the orders of a customer, the newest first. */
  listOrders(
    username: string,
    filters?: Query<'listCustomerOrders'>,
    options?: CallOptions,
  ): ListOf<'listCustomerOrders'> {
    return this.api.list('/v2/customer/{username}/orders', { path: { username }, query: filters }, options);
  }

  /** Returns an order of a customer. */
  getOrder(username: string, orderId: number, options?: CallOptions): Promise<Order> {
    return this.api.get('/v2/customer/{username}/orders/{orderId}', { path: { username, orderId } }, options);
  }

  /** Cancels an order of a customer. */
  cancelOrder<Options extends WriteOptions>(
    username: string,
    orderId: number,
    options?: Options,
  ): Promise<Outcome<Options, void>> {
    return this.api.delete(
      '/v2/customer/{username}/orders/{orderId}',
      { path: { username, orderId } },
      options,
    );
  }

  /** Returns the transitions of an order of a customer, the oldest first. */
  getOrderTimeline(
    username: string,
    orderId: number,
    options?: CallOptions,
  ): Promise<Result<'getCustomerOrderTimeline'>> {
    const path = { username, orderId };
    return this.api.get('/v2/customer/{username}/orders/{orderId}/timeline', { path }, options);
  }

  /** Returns how an order of a customer is shipped: carrier and tracking. */
  getOrderShipment(
    username: string,
    orderId: number,
    options?: CallOptions,
  ): Promise<Result<'getCustomerOrderShipment'>> {
    const path = { username, orderId };
    return this.api.get('/v2/customer/{username}/orders/{orderId}/shipment', { path }, options);
  }
}

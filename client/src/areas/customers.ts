import type { CallOptions } from '../options.ts';
import type { ListOf } from '../pages.ts';
import type { Body, Customer, Order, Query, Result } from '../types.ts';
import { Area } from './area.ts';

/** Customers: registration, login, profiles, and their own orders. */
export class Customers extends Area {
  /** Registers a customer. */
  register(customer: Body<'registerCustomer'>, options?: CallOptions): Promise<Customer> {
    return this.api.post('/v2/customer', { body: customer }, options);
  }

  /** Registers up to 100 customers. The result lists those that were refused. */
  registerAll(
    customers: Body<'registerCustomers'>,
    options?: CallOptions,
  ): Promise<Result<'registerCustomers'>> {
    return this.api.post('/v2/customer/createMultiple', { body: customers }, options);
  }

  /** Logs a customer in. The token is the `session` of another client. */
  login(login: Body<'loginCustomer'>, options?: CallOptions): Promise<Result<'loginCustomer'>> {
    return this.api.post('/v2/customer/login', { body: login }, options);
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
  replace(username: string, customer: Body<'replaceCustomer'>, options?: CallOptions): Promise<Customer> {
    return this.api.put('/v2/customer/{username}', { path: { username }, body: customer }, options);
  }

  /** Deletes a customer. */
  delete(username: string, options?: CallOptions): Promise<void> {
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
  changeRole(
    customerId: number,
    role: Body<'changeCustomerRole'>,
    options?: CallOptions,
  ): Promise<Result<'changeCustomerRole'>> {
    return this.api.post('/v2/customers/{customerId}/role', { path: { customerId }, body: role }, options);
  }

  /** Ends all sessions of a customer. */
  endSessions(customerId: number, options?: CallOptions): Promise<void> {
    return this.api.delete('/v2/customers/{customerId}/sessions', { path: { customerId } }, options);
  }

  /** Makes a link with which a customer sets a new password. The response contains it once. */
  createPasswordReset(customerId: number, options?: CallOptions): Promise<Result<'createPasswordReset'>> {
    return this.api.post('/v2/customers/{customerId}/password-reset', { path: { customerId } }, options);
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
  cancelOrder(username: string, orderId: number, options?: CallOptions): Promise<void> {
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
}

import type { CallOptions } from '../options.ts';
import type { ListOf } from '../pages.ts';
import type { Body, Customer, Order, Query, Result } from '../types.ts';
import { Area } from './area.ts';

/** Orders and their transitions. */
export class Orders extends Area {
  /** Lists orders, the newest first. */
  list(filters?: Query<'listOrders'>, options?: CallOptions): ListOf<'listOrders'> {
    return this.api.list('/v2/store/orders', { query: filters }, options);
  }

  /** Returns an order. */
  get(orderId: number, options?: CallOptions): Promise<Order> {
    return this.api.get('/v2/store/order/{orderId}', { path: { orderId } }, options);
  }

  /** Places an order. */
  place(order: Body<'placeOrder'>, options?: CallOptions): Promise<Order> {
    return this.api.post('/v2/store/order', { body: order }, options);
  }

  /** Cancels an order. */
  cancel(orderId: number, options?: CallOptions): Promise<void> {
    return this.api.delete('/v2/store/order/{orderId}', { path: { orderId } }, options);
  }

  /** Returns the transitions of an order, the oldest first. */
  getTimeline(orderId: number, options?: CallOptions): Promise<Result<'getOrderTimeline'>> {
    return this.api.get('/v2/store/order/{orderId}/timeline', { path: { orderId } }, options);
  }

  /** Returns the customer who placed an order. */
  getCustomer(orderId: number, options?: CallOptions): Promise<Customer> {
    return this.api.get('/v2/store/order/{orderId}/customer', { path: { orderId } }, options);
  }

  /** Approves an order. */
  approve(orderId: number, options?: CallOptions): Promise<Order> {
    return this.api.post('/v2/store/order/{orderId}/approve', { path: { orderId } }, options);
  }

  /** Marks an order as shipped. */
  ship(orderId: number, options?: CallOptions): Promise<Order> {
    return this.api.post('/v2/store/order/{orderId}/ship', { path: { orderId } }, options);
  }

  /** Marks an order as delivered. */
  deliver(orderId: number, options?: CallOptions): Promise<Order> {
    return this.api.post('/v2/store/order/{orderId}/deliver', { path: { orderId } }, options);
  }
}

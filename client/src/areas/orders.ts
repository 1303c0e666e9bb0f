import { bodyOf, textOf } from '../api.ts';
import { Conflict } from '../errors.ts';
import { etagOf } from '../metadata.ts';
import type { CallOptions, Outcome, WriteOptions } from '../options.ts';
import type { ListOf } from '../pages.ts';
import type { Body, Customer, Order, Query, Result } from '../types.ts';
import { Area } from './area.ts';

export interface WaitOptions {
  readonly until: Order['status'];
  /** 60 s by default. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

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
  place<Options extends WriteOptions>(
    order: Body<'placeOrder'>,
    options?: Options,
    query?: Query<'placeOrder'>,
  ): Promise<Outcome<Options, Order>> {
    return this.api.post('/v2/store/order', { body: order, query }, options);
  }

  /** Returns the order that would be placed, with current names, prices and total. Nothing is placed or reserved. */
  quote(order: Body<'placeOrder'>, options?: CallOptions, query?: Query<'placeOrder'>): Promise<Order> {
    return this.place(order, { ...options, dryRun: true }, query);
  }

  /** Cancels an order. */
  cancel<Options extends WriteOptions>(orderId: number, options?: Options): Promise<Outcome<Options, void>> {
    return this.api.delete('/v2/store/order/{orderId}', { path: { orderId } }, options);
  }

  /** Returns the transitions of an order, the oldest first. */
  getTimeline(orderId: number, options?: CallOptions): Promise<Result<'getOrderTimeline'>> {
    return this.api.get('/v2/store/order/{orderId}/timeline', { path: { orderId } }, options);
  }

  /** Returns the customer who placed an order; undefined where a key placed it, or the customer was deleted. */
  getCustomer(orderId: number, options?: CallOptions): Promise<Customer | undefined> {
    return this.api.get('/v2/store/order/{orderId}/customer', { path: { orderId } }, options);
  }

  /** Lists the notes of operators about an order, the newest first. */
  listNotes(
    orderId: number,
    page?: Query<'listOrderNotes'>,
    options?: CallOptions,
  ): ListOf<'listOrderNotes'> {
    return this.api.list('/v2/store/order/{orderId}/notes', { path: { orderId }, query: page }, options);
  }

  /** Adds a note about an order, which customers never see. */
  createNote<Options extends WriteOptions>(
    orderId: number,
    note: Body<'createOrderNote'>,
    options?: Options,
  ): Promise<Outcome<Options, Result<'createOrderNote'>>> {
    return this.api.post('/v2/store/order/{orderId}/notes', { path: { orderId }, body: note }, options);
  }

  /** Deletes a note about an order or a customer. */
  deleteNote<Options extends WriteOptions>(
    noteId: number,
    options?: Options,
  ): Promise<Outcome<Options, void>> {
    return this.api.delete('/v2/notes/{noteId}', { path: { noteId } }, options);
  }

  /** Approves an order. */
  approve<Options extends WriteOptions>(
    orderId: number,
    options?: Options,
  ): Promise<Outcome<Options, Order>> {
    return this.api.post('/v2/store/order/{orderId}/approve', { path: { orderId } }, options);
  }

  /** Marks an order as shipped. The shipment states carrier and tracking. */
  ship<Options extends WriteOptions>(
    orderId: number,
    shipment: Body<'replaceOrderShipment'> = {},
    options?: Options,
  ): Promise<Outcome<Options, Order>> {
    return this.api.post('/v2/store/order/{orderId}/ship', { path: { orderId }, body: shipment }, options);
  }

  /** Returns how an order is shipped: carrier and tracking. */
  getShipment(orderId: number, options?: CallOptions): Promise<Result<'getOrderShipment'>> {
    return this.api.get('/v2/store/order/{orderId}/shipment', { path: { orderId } }, options);
  }

  /** Replaces carrier and tracking of an order that has shipped and is not delivered. */
  replaceShipment<Options extends WriteOptions>(
    orderId: number,
    shipment: Body<'replaceOrderShipment'>,
    options?: Options,
  ): Promise<Outcome<Options, Result<'replaceOrderShipment'>>> {
    return this.api.put('/v2/store/order/{orderId}/shipment', { path: { orderId }, body: shipment }, options);
  }

  /** Marks an order as delivered. */
  deliver<Options extends WriteOptions>(
    orderId: number,
    options?: Options,
  ): Promise<Outcome<Options, Order>> {
    return this.api.post('/v2/store/order/{orderId}/deliver', { path: { orderId } }, options);
  }

  /**
   * Waits until an order has a status, or a later one.
   * @throws CurdError conflict when it is cancelled instead; a DOMException named TimeoutError when the time is over
   */
  async wait(orderId: number, { until, timeoutMs = 60_000, signal }: WaitOptions): Promise<Order> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const options = { signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]) };
    let order = await this.get(orderId, options);
    while (order.status !== until && !isLater(order.status, until)) {
      if (order.status === 'cancelled') {
        throw new Conflict(`Order ${orderId} is cancelled and will not be ${until}.`, {
          status: 409,
          type: 'conflict',
          requestId: undefined,
          retryAfterSeconds: undefined,
          attempts: 1,
          idempotencyKey: undefined,
          method: 'GET',
          path: `/v2/store/order/${orderId}`,
          errors: [],
        });
      }
      order = await this.#nextVersion(order, options);
    }
    return order;
  }

  /** The order after its next change, or the same after a while. */
  async #nextVersion(order: Order, options: CallOptions): Promise<Order> {
    const input = { path: { orderId: order.id }, query: { wait: 20 } };
    const headers = { 'if-none-match': etagOf(order) ?? '' };
    const request = { ...this.api.requestOf('GET', '/v2/store/order/{orderId}', input), headers };
    const reply = await this.api.http.send(request, options, textOf);
    return reply.response.status === 304 ? order : bodyOf<Order>(reply, request);
  }
}

/** The order of the transitions; an order can be cancelled before it is shipped. */
const transitions: readonly string[] = ['placed', 'approved', 'shipped', 'delivered'];

const isLater = (status: string, other: string) =>
  transitions.includes(other) && transitions.indexOf(status) > transitions.indexOf(other);

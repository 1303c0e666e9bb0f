import { parseBody, readText } from '../api.ts';
import { Conflict } from '../errors.ts';
import { etagOf } from '../metadata.ts';
import type { CallOptions } from '../options.ts';
import type { Order } from '../types.ts';
import { GeneratedOrders } from './generated.ts';

export interface WaitOptions {
  readonly until: Order['status'];
  /** 60 s by default. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Orders and their transitions. */
export class Orders extends GeneratedOrders {
  /** Returns an order at once. `wait` waits for a status. */
  get(orderId: number, options?: CallOptions): Promise<Order> {
    return this.api.get('/v2/store/order/{orderId}', { path: { orderId } }, options);
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
    const reply = await this.api.http.send(request, options, readText);
    return reply.response.status === 304 ? order : parseBody<Order>(reply, request);
  }
}

/** The order of the transitions; an order can be cancelled before it is shipped. */
const transitions: readonly string[] = ['placed', 'approved', 'shipped', 'delivered'];

const isLater = (status: string, other: string) =>
  transitions.includes(other) && transitions.indexOf(status) > transitions.indexOf(other);

/** The orders of the customer of a page. A placement is sent until its response is known, and has one effect. */
import type { Api } from '../src/api.ts';
import { Orders } from '../src/areas/orders.ts';
import { isCurdError } from '../src/errors.ts';
import type { CallOptions, Outcome, WriteOptions } from '../src/options.ts';
import { createIdempotencyKey } from '../src/retries.ts';
import type { Body, Order, Query } from '../src/types.ts';
import type { Session } from './session.ts';
import type { StorageEntry } from './storage.ts';

/** An order that was sent, and whose response is not known. */
export interface Placement {
  readonly username: string;
  readonly key: string;
  readonly order: Body<'placeOrder'>;
  /** Milliseconds since 1970. */
  readonly sentAt: number;
}

/** The server knows an idempotency key for 24 hours. After that, the same key would place a second order. */
const keptMs = 23 * 60 * 60 * 1000;

/** Statuses that say nothing about an earlier request with the same idempotency key. */
const uncertainStatuses: readonly number[] = [401, 403, 408, 429];

export class CustomerOrders extends Orders {
  readonly #session: Session;
  readonly #entry: StorageEntry<Placement>;
  #running: Promise<Order> | undefined;

  constructor(api: Api, session: Session, entry: StorageEntry<Placement>) {
    super(api);
    this.#session = session;
    this.#entry = entry;
  }

  /** The order of this customer whose response is not known: the page was reloaded, or the connection was lost. */
  get unconfirmed(): Body<'placeOrder'> | null {
    return this.#open()?.order ?? null;
  }

  /**
   * Places an order. While its response is not known, also after a reload, the same order again is the same placement, and
   * another order is refused: call `resume` first.
   */
  override place<Options extends WriteOptions>(
    order: Body<'placeOrder'>,
    options?: Options,
    query?: Query<'placeOrder'>,
  ): Promise<Outcome<Options, Order>> {
    const isDryRun = options?.dryRun !== undefined && options.dryRun !== false;
    return isDryRun || options?.idempotencyKey !== undefined
      ? super.place(order, options, query)
      : (this.#placeOnce(order, options) as Promise<Outcome<Options, Order>>);
  }

  /** Sends the unconfirmed order again, and returns the order that it placed; null if there is none. */
  async resume(options?: CallOptions): Promise<Order | null> {
    const open = this.#open();
    return open === null ? null : this.#run(open, false, options);
  }

  forget(): void {
    this.#entry.remove();
  }

  async #placeOnce(order: Body<'placeOrder'>, options: CallOptions | undefined): Promise<Order> {
    const { username } = this.#session;
    if (username === null) {
      throw new Error('An order needs a customer. Call login first.');
    }
    const open = this.#open();
    if (open !== null && JSON.stringify(open.order) !== JSON.stringify(order)) {
      throw new Error(
        'It is not known whether an earlier order was placed. Call orders.resume, and then place this one.',
      );
    }
    const placement = open ?? { username, key: createIdempotencyKey(), order, sentAt: Date.now() };
    return this.#run(placement, open === null, options);
  }

  /** One request at a time: a double click gets the response to the first. */
  #run(placement: Placement, isFirst: boolean, options: CallOptions | undefined): Promise<Order> {
    this.#running ??= this.#send(placement, isFirst, options).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #send(placement: Placement, isFirst: boolean, options: CallOptions | undefined): Promise<Order> {
    this.#entry.write(placement);
    try {
      const order = await super.place(placement.order, { ...options, idempotencyKey: placement.key });
      this.forget();
      return order;
    } catch (error) {
      if (isRefusal(error, isFirst)) {
        this.forget();
      }
      throw error;
    }
  }

  #open(): Placement | null {
    const stored = this.#entry.read();
    const isOpen =
      stored !== null && stored.username === this.#session.username && Date.now() - stored.sentAt < keptMs;
    return isOpen ? stored : null;
  }
}

/** Whether an error says that the order was not placed. @param isFirst no request with its key was sent before */
function isRefusal(error: unknown, isFirst: boolean): boolean {
  if (!isCurdError(error) || error.status < 400 || error.status >= 500) {
    return false;
  }
  const stillRuns = error.status === 409 && error.retryAfterSeconds !== undefined;
  return (isFirst && error.attempts === 1) || (!stillRuns && !uncertainStatuses.includes(error.status));
}

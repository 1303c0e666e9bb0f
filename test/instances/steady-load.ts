/**
 * Shoppers that keep sending requests during faults: each repeats a request until it gets a response, on one instance
 * after the other, with the same Idempotency-Key. Their responses are recorded.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { bern } from '../context.ts';

const patienceMs = 20_000;
const pauseMs = 40;

export interface SteadyLoad {
  /** Totals of confirmed orders, by id. */
  readonly orders: ReadonlyMap<number, { readonly total: number; readonly notes: string }>;
  /** Orders whose cancellation was confirmed. */
  readonly cancelled: ReadonlySet<number>;
  /** Responses and broken connections so far, by kind. */
  readonly counts: Readonly<Record<string, number>>;
  /** Unexpected responses. */
  readonly faults: readonly string[];
  /** Successful responses so far. */
  good(): number;
  /** Waits until all shoppers have finished their last request. */
  stop(): Promise<void>;
}

interface Options {
  /** Where to send the next request. */
  readonly next: () => string;
  readonly key: string;
  readonly cheeseIds: readonly number[];
  readonly shoppers: number;
  /** The pause of a shopper between two orders. */
  readonly restMs: number;
  /** Connections may break: an instance may be killed. */
  readonly mayBreak: boolean;
}

export function startLoad(options: Options): SteadyLoad {
  const { next, key, cheeseIds, shoppers, restMs, mayBreak } = options;
  const orders = new Map<number, { total: number; notes: string }>();
  const cancelled = new Set<number>();
  const counts: Record<string, number> = {};
  const faults: string[] = [];
  let good = 0;
  let isStopping = false;

  function count(what: string): void {
    counts[what] = (counts[what] ?? 0) + 1;
  }

  /** Sends until a response has the status. @returns its body; undefined after an unexpected response */
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows its type.
  async function insist(status: number, method: string, path: string, body?: object): Promise<any> {
    const headers = {
      'X-API-Key': key,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() }),
    };
    const deadline = performance.now() + patienceMs;
    for (;;) {
      try {
        const response = await fetch(`${next()}${path}`, {
          method,
          headers,
          body: body === undefined ? null : JSON.stringify(body),
          signal: AbortSignal.timeout(patienceMs),
        });
        const text = await response.text();
        const isReplay = response.headers.has('idempotency-replayed');
        count(`${method} ${response.status}${isReplay ? ' again' : ''}`);
        if (response.status === status) {
          good += 1;
          return text === '' ? null : JSON.parse(text);
        }
        const mayWait = response.status === 503 || (response.status === 409 && body !== undefined);
        if (!mayWait || !(Number(response.headers.get('retry-after')) > 0)) {
          throw new Error(`${method} ${path}: ${response.status} ${text}`);
        }
      } catch (error) {
        if (!(error instanceof TypeError) || !mayBreak) {
          faults.push(`${error} ${error instanceof Error ? error.cause : ''}`);
          return undefined;
        }
        count('broken');
      }
      if (performance.now() > deadline) {
        faults.push(`${method} ${path} has no answer`);
        return undefined;
      }
      await sleep(pauseMs);
    }
  }

  async function shop(person: number): Promise<void> {
    for (let visit = 0; !isStopping; visit += 1) {
      const notes = randomUUID();
      const cheeseId = cheeseIds[(person + visit) % cheeseIds.length];
      const items = [{ cheeseId, quantity: 1 + (visit % 9) }];
      const order = await insist(201, 'POST', '/v2/store/order', { items, shippingAddress: bern, notes });
      if (order === undefined) {
        continue;
      }
      orders.set(order.id, { total: order.total, notes });
      const shown = await insist(200, 'GET', `/v2/store/order/${order.id}`);
      if (shown !== undefined && (shown.notes !== notes || shown.total !== order.total)) {
        faults.push(`order ${order.id} is shown as ${JSON.stringify(shown)}`);
      }
      if (visit % 3 === 0 && (await insist(204, 'DELETE', `/v2/store/order/${order.id}`)) !== undefined) {
        cancelled.add(order.id);
      }
      await sleep(restMs);
    }
  }

  const shopping = Promise.all(Array.from({ length: shoppers }, (_, person) => shop(person)));
  return {
    orders,
    cancelled,
    counts,
    faults,
    good: () => good,
    async stop() {
      isStopping = true;
      await shopping;
    },
  };
}

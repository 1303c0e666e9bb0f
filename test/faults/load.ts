/** Load for a server that is about to be killed, and a record of all its responses. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

const patienceMs = 15_000;
const cancellers = 4;

interface Line {
  readonly cheeseId: number;
  readonly quantity: number;
}

/** A request that can be repeated with the same content. */
export interface Attempt {
  readonly path: '/v2/store/order' | '/v2/customer';
  readonly idempotencyKey: string;
  readonly body: Record<string, unknown>;
}

export interface OrderResponse {
  readonly id: number;
  readonly items: readonly Line[];
  readonly total: number;
  readonly notes: string;
}

/** All responses since the first server, by id; attempts without a response, by key. */
export interface Memory {
  readonly orders: Map<number, OrderResponse>;
  readonly attempts: Map<number, Attempt>;
  readonly customers: Map<number, { readonly username: string; readonly password: string }>;
  readonly cancelled: Set<number>;
  /** Cancellations without a response: these orders may be cancelled or not. */
  readonly maybeCancelled: Set<number>;
  readonly unanswered: Map<string, Attempt>;
}

export interface Load {
  readonly memory: Memory;
  /** Sends on several connections until the server is killed. Every response must be a success. */
  run(url: string): Promise<void>;
  /** Sends an attempt and records the response. */
  send(url: string, attempt: Attempt): Promise<void>;
  /** Returns the response body of a path. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests know its shape.
  read(url: string, path: string): Promise<any>;
}

/**
 * @param cheeseIds cheeses to order, some of them without a price
 * @param placers how many place orders concurrently: two dozen keep a server busy
 */
export function createLoad(key: string, cheeseIds: readonly number[], placers: number): Load {
  const memory: Memory = {
    orders: new Map(),
    attempts: new Map(),
    customers: new Map(),
    cancelled: new Set(),
    maybeCancelled: new Set(),
    unanswered: new Map(),
  };

  async function call(method: string, address: string, attempt?: Attempt): Promise<Response> {
    return fetch(address, {
      method,
      headers: {
        'X-API-Key': key,
        ...(attempt === undefined
          ? {}
          : { 'Content-Type': 'application/json', 'Idempotency-Key': attempt.idempotencyKey }),
      },
      body: attempt === undefined ? null : JSON.stringify(attempt.body),
      signal: AbortSignal.timeout(patienceMs),
    });
  }

  async function send(url: string, attempt: Attempt): Promise<void> {
    const { path, idempotencyKey, body } = attempt;
    memory.unanswered.set(idempotencyKey, attempt);
    const response = await call('POST', `${url}${path}`, attempt);
    const text = await response.text();
    assert.equal(response.status, 201, `POST ${path}: ${text}`);
    const { id, ...answer } = JSON.parse(text);
    memory.unanswered.delete(idempotencyKey);
    memory.attempts.set(id, attempt);
    if (path === '/v2/customer') {
      memory.customers.set(id, { username: String(body.username), password: String(body.password) });
    } else {
      memory.orders.set(id, { id, items: answer.items, total: answer.total, notes: answer.notes });
    }
  }

  async function cancel(url: string): Promise<void> {
    // One of the last, so that some are still placed and others approved.
    const id = [...memory.orders.keys()].slice(-30).find((one) => !memory.maybeCancelled.has(one));
    if (id === undefined) {
      await send(url, anOrder(cheeseIds));
      return;
    }
    memory.maybeCancelled.add(id);
    const response = await call('DELETE', `${url}/v2/store/order/${id}`);
    assert.equal(response.status, 204, `DELETE order ${id}: ${await response.text()}`);
    memory.cancelled.add(id);
  }

  return {
    memory,
    send,

    async run(url) {
      const again = async (work: () => Promise<void>) => {
        try {
          for (;;) {
            await work();
          }
        } catch (error) {
          // The error of fetch when the connection breaks. All other errors are failures.
          if (!(error instanceof TypeError)) {
            throw error;
          }
        }
      };
      await Promise.all([
        ...Array.from({ length: placers }, () => again(() => send(url, anOrder(cheeseIds)))),
        ...Array.from({ length: cancellers }, () => again(() => cancel(url))),
        again(() => send(url, aRegistration())),
      ]);
    },

    async read(url, path) {
      const response = await call('GET', `${url}${path}`);
      const text = await response.text();
      assert.equal(response.status, 200, `GET ${path}: ${text}`);
      return JSON.parse(text);
    },
  };
}

/** The notes contain the key, so that a duplicate is found in the database. */
function anOrder(cheeseIds: readonly number[]): Attempt {
  const idempotencyKey = randomUUID();
  const lines = Array.from({ length: 1 + pick(3) }, () => ({
    cheeseId: cheeseIds[pick(cheeseIds.length)] ?? 0,
    quantity: 1 + pick(100),
  }));
  const shippingAddress = { street: 'Gerechtigkeitsgasse 1', city: 'Bern', country: 'CH' };
  return {
    path: '/v2/store/order',
    idempotencyKey,
    body: { items: lines, shippingAddress, notes: idempotencyKey },
  };
}

function aRegistration(): Attempt {
  const idempotencyKey = randomUUID();
  const name = `ada-${idempotencyKey}`;
  return {
    path: '/v2/customer',
    idempotencyKey,
    body: { username: name, email: `${name}@example.com`, password: `pass ${idempotencyKey}` },
  };
}

export function pick(below: number): number {
  return Math.floor(Math.random() * below);
}

/**
 * Chooses the requests that are kept, and writes them once a second. A response never waits for it: a request that does
 * not fit the bounds is counted, and a batch that the database refuses is dropped.
 */
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { AppError } from '../errors.ts';
import { clientNetwork } from '../http/client-ip.ts';
import type { RequestRecorder } from '../http/metrics/request-log.ts';
import type { Loops } from '../jobs/loops.ts';
import { RepeatedWork } from '../jobs/repeated-work.ts';
import type { Log } from '../log.ts';
import {
  customerOf,
  errorOf,
  exchangeOf,
  type FactOptions,
  factsOf,
  ownerOfRequest,
  routeOf,
} from './facts.ts';
import type { ForgottenCustomers } from './forgotten-customers.ts';
import { type NewRequestRow, requestQueries } from './queries.ts';

/** Requests that this server keeps within a second. */
const keptOfServerMax = 200;
/** Requests of one account, customer, or client IP without a credential among them. */
const keptOfCallerMax = 20;
export const slowMs = 500;
const writeMs = 1000;
/** While the database is slow. */
const waitingMax = 1000;

export interface RequestWriter extends RequestRecorder {
  /** Writes what waits, once a second. */
  readonly work: RepeatedWork;
  /** Requests that were to be kept and are not. */
  unlogged(): number;
  /** The owners of requests that were written since the last call. */
  takeOwners(): string[];
}

interface Dependencies extends FactOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly loops: Loops;
  readonly forgotten: ForgottenCustomers;
  readonly isOn: boolean;
}

export function createRequestWriter(dependencies: Dependencies): RequestWriter {
  const { database, clock, log, loops, forgotten, isOn } = dependencies;
  let waiting: NewRequestRow[] = [];
  let unlogged = 0;
  let second = 0;
  let keptOfServer = 0;
  let keptOfCaller = new Map<string, number>();
  let owners = new Set<string>();

  function fitsBounds(caller: string): boolean {
    const now = Math.floor(clock.now() / 1000);
    if (now !== second) {
      second = now;
      keptOfServer = 0;
      keptOfCaller = new Map();
    }
    const kept = keptOfCaller.get(caller) ?? 0;
    if (keptOfServer >= keptOfServerMax || kept >= keptOfCallerMax || waiting.length >= waitingMax) {
      return false;
    }
    keptOfServer += 1;
    keptOfCaller.set(caller, kept + 1);
    return true;
  }

  const describe: RequestRecorder['describe'] = (request, status, milliseconds, error) =>
    factsOf({ request, status, milliseconds, error }, dependencies);

  function keep(request: FastifyRequest, status: number, milliseconds: number, error: AppError | null) {
    const exchange = exchangeOf(request);
    const route = routeOf(request);
    if (route !== null && /^\/v2\/requests(\/|$)/.test(route)) {
      return;
    }
    const owner = ownerOfRequest(exchange);
    if (!fitsBounds(owner === '' ? clientNetwork(request.ip) : owner)) {
      unlogged += 1;
      return;
    }
    const facts = factsOf({ request, status, milliseconds, error }, dependencies);
    waiting.push({
      request_id: facts.id,
      owner,
      customer_id: customerOf(exchange),
      credential: facts.credential?.id ?? null,
      at: facts.at,
      method: facts.method,
      route,
      status,
      error: errorOf(exchange, error)?.type ?? null,
      facts: JSON.stringify(facts),
    });
  }

  async function write(): Promise<void> {
    const rows = waiting.filter((row) => !forgotten.has(row.customer_id));
    waiting = [];
    const deleted = forgotten.list();
    if (rows.length === 0 && deleted.length === 0) {
      return;
    }
    try {
      await database.relaxedTransaction(async (tx) => {
        const queries = requestQueries(tx);
        if (rows.length > 0) {
          await queries.insert(rows);
        }
        if (deleted.length > 0) {
          await queries.deleteOfCustomers(deleted);
        }
      });
      for (const { owner } of rows) {
        owners.add(owner);
      }
    } catch (error) {
      unlogged += rows.length;
      log.warn({ err: error, requests: rows.length }, 'requests could not be written to the request log');
    }
  }

  return {
    describe,
    record(request, status, milliseconds, error) {
      const isKept = status >= 400 || milliseconds > slowMs || isChange(request) || hasOwnId(request);
      if (isOn && (isKept || request.exchange?.simulation)) {
        keep(request, status, milliseconds, error);
      }
    },
    work: new RepeatedWork({ loops, name: 'request.log', everyMs: writeMs, run: write }),
    unlogged: () => unlogged,
    takeOwners() {
      const taken = [...owners];
      owners = new Set();
      return taken;
    },
  };
}

function isChange({ method, exchange }: FastifyRequest): boolean {
  return (
    (method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS') || exchange?.route.mutatesOnGet === true
  );
}

/** The client sent a valid X-Request-Id, which became the id of the request. */
function hasOwnId({ headers, id }: FastifyRequest): boolean {
  return headers['x-request-id'] === id;
}

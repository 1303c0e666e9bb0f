/**
 * Chooses the requests that are kept, and writes them once a second. A response never waits for it: a request that does
 * not fit the bounds is counted, and a batch that the database refuses is dropped.
 */
import type { FastifyRequest } from 'fastify';
import { type Clock, timestamp } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { AppError } from '../errors.ts';
import { clientNetwork } from '../http/client-ip.ts';
import type { RequestRecorder } from '../http/metrics/request-log.ts';
import type { Loops } from '../jobs/loops.ts';
import { RepeatedWork } from '../jobs/repeated-work.ts';
import { countedPrincipal } from '../limits/rate-limits.ts';
import type { Log } from '../log.ts';
import { formatFacts, formatRoute } from './facts.ts';
import type { ForgottenCustomers } from './forgotten-customers.ts';
import { type NewRequestRow, requestQueries } from './queries.ts';
import { type FactOptions, type RawFacts, readFacts } from './raw-facts.ts';

/** Requests that this server keeps within a second. */
const keptOfServerMax = 200;
/** Requests of one account, customer, or client IP without a credential among them. */
const keptOfCallerMax = 20;
export const slowMs = 500;
const writeMs = 1000;
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Limit of the requests that wait to be written while the database is slow. */
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

interface WaitingRequest {
  readonly owner: string;
  readonly facts: RawFacts;
}

export function createRequestWriter(dependencies: Dependencies): RequestWriter {
  const { database, clock, log, loops, forgotten, isOn } = dependencies;
  let waiting: WaitingRequest[] = [];
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
    formatFacts(readFacts({ request, status, milliseconds, error }, dependencies));

  function keep(request: FastifyRequest, status: number, milliseconds: number, error: AppError | null) {
    if (!request.is404 && /^\/v2\/requests(\/|$)/.test(request.routeOptions?.url ?? '')) {
      return;
    }
    const counted = countedPrincipal(request.exchange?.principals ?? []);
    // Who may see the request, besides operators: the account before the customer; empty without a valid credential.
    const owner =
      counted === undefined
        ? ''
        : counted.accountId === null
          ? `customer:${counted.customerId}`
          : `account:${counted.accountId}`;
    if (fitsBounds(owner === '' ? clientNetwork(request.ip) : owner)) {
      waiting.push({ owner, facts: readFacts({ request, status, milliseconds, error }, dependencies) });
    } else {
      unlogged += 1;
    }
  }

  async function write(): Promise<void> {
    const rows = waiting.filter(({ facts }) => !forgotten.has(facts.customer));
    waiting = [];
    const deleted = forgotten.list();
    if (rows.length === 0 && deleted.length === 0) {
      return;
    }
    try {
      await database.relaxedTransaction(async (tx) => {
        const queries = requestQueries(tx);
        if (rows.length > 0) {
          await queries.insert(rows.map(toRow));
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
      const isChange = !safeMethods.has(request.method) || request.exchange?.route.mutatesOnGet === true;
      const isKept = status >= 400 || milliseconds > slowMs || isChange || hasOwnId(request);
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

function toRow({ owner, facts }: WaitingRequest): NewRequestRow {
  return {
    request_id: facts.id,
    owner,
    customer_id: facts.customer,
    credential: facts.actor?.id ?? null,
    at: timestamp(facts.at),
    method: facts.method,
    route: formatRoute(facts.url),
    status: facts.status,
    error: facts.refusal?.type ?? null,
    facts: JSON.stringify(facts),
  };
}

/** The client sent a valid X-Request-Id, which became the id of the request. */
function hasOwnId({ headers, id }: FastifyRequest): boolean {
  return headers['x-request-id'] === id;
}

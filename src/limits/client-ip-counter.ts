/**
 * Counts logins and registrations by client IP in PostgreSQL, for all servers on it together and exactly. Requests that
 * arrive while a statement runs are batched into the next one.
 */
import { createHmac } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { batchCalls } from '../database/batch-calls.ts';
import type { Database } from '../database/database.ts';
import { type ClientIpRow, clientIpQueries } from './queries.ts';

interface ClientIpEntry {
  readonly clientIp: string;
  /** The entries of a batch; 1 for other requests. */
  readonly requests: number;
  /** Requests within a minute. */
  readonly limit: number;
  /** The second in which this request was counted before, as one; null if it was not. */
  readonly countedIn: number | null;
}

/** Counts a request. A refused request is not counted, and if it was counted before as one, that count is taken back. */
export type ClientIpCounter = (entry: ClientIpEntry) => Promise<ClientIpRow>;

/** @param secret of the digests that are stored instead of client IPs */
export function createClientIpCounter(database: Database, clock: Clock, secret: string): ClientIpCounter {
  const subjectOf = (clientIp: string) =>
    `login:${createHmac('sha256', secret)
      .update(JSON.stringify(['client ip', clientIp]))
      .digest('base64url')}`;

  return batchCalls((entries: readonly ClientIpEntry[]) =>
    clientIpQueries(database).count(
      entries.map(
        ({ clientIp, requests, limit, countedIn }) =>
          [subjectOf(clientIp), requests, limit, countedIn] as const,
      ),
      clock,
    ),
  );
}

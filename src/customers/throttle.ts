/**
 * Holds off whoever tries passwords out: failures are counted for a username from one address, for the address, and
 * for the username from anywhere. An attempt counts as failed until its password turned out right, so that many sent at
 * once get no more tries than one after another.
 */
import { createHmac } from 'node:crypto';
import { type Clock, timestamp } from '../clock.ts';
import type { LoginLimits } from '../config.ts';
import type { Database, Sql } from '../database/database.ts';
import { rateLimited } from '../errors.ts';
import { customerQueries } from './queries.ts';

const quarterHourMs = 15 * 60_000;
const hourMs = 60 * 60_000;

/** What failures are counted under, strictest first: whoever counts takes them in this order. */
interface Counter {
  readonly id: string;
  readonly limit: number;
  readonly windowMs: number;
}

export interface Throttle {
  /** Counts an attempt as failed. @throws AppError rateLimited, before any password is looked at */
  begin(usernameKey: string, address: string): Promise<void>;
  /** Takes it back, in the transaction of the login; the failures from this address are forgotten. */
  succeed(tx: Sql, usernameKey: string, address: string): Promise<void>;
  /** Takes it back where no password was looked at. */
  withdraw(usernameKey: string, address: string): Promise<void>;
  /** Deletes what is over. */
  purge(): Promise<void>;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly limits: LoginLimits;
  /** Names and addresses are kept as digests under it. */
  readonly secret: string;
}

export function createThrottle({ database, clock, limits, secret }: Dependencies): Throttle {
  function countersOf(
    usernameKey: string,
    address: string,
  ): [pair: Counter, address: Counter, username: Counter] {
    const counter = (
      name: 'pair' | 'address' | 'username',
      windowMs: number,
      ...what: string[]
    ): Counter => ({
      id: createHmac('sha256', secret)
        .update(JSON.stringify([name, ...what]))
        .digest('hex'),
      limit: limits[name],
      windowMs,
    });
    return [
      counter('pair', quarterHourMs, usernameKey, address),
      counter('address', quarterHourMs, address),
      counter('username', hourMs, usernameKey),
    ];
  }

  return {
    begin: (usernameKey, address) =>
      database.transaction(async (tx) => {
        const now = clock.now();
        const counters = countersOf(usernameKey, address);
        const rows = await customerQueries(tx).insertFailures(
          counters.map(({ id, windowMs }) => ({ id, endsAt: timestamp(now + windowMs) })),
          timestamp(now),
        );
        for (const { id, limit, windowMs } of counters) {
          const row = rows.find((one) => one.id === id);
          if (row !== undefined && row.failures > limit) {
            // Rolls back what was counted: being turned away makes nothing worse.
            const waitMs = Date.parse(row.ends_at) - now;
            throw rateLimited('Too many logins have failed. Wait as long as Retry-After says.', waitMs, {
              'RateLimit-Policy': `"login";q=${limit};w=${windowMs / 1000}`,
              RateLimit: `"login";r=0;t=${Math.ceil(waitMs / 1000)}`,
            });
          }
        }
      }),

    async succeed(tx, usernameKey, address) {
      const [pair, ...others] = countersOf(usernameKey, address);
      await Promise.all([
        customerQueries(tx).deleteFailures(pair.id),
        customerQueries(tx).takeBackFailures(others.map(({ id }) => id)),
      ]);
    },

    withdraw: (usernameKey, address) =>
      database.transaction(async (tx) => {
        await customerQueries(tx).takeBackFailures(countersOf(usernameKey, address).map(({ id }) => id));
      }),

    async purge() {
      await customerQueries(database).deletePastFailures(timestamp(clock.now()));
    },
  };
}

/**
 * Known networks: those from which a customer has logged in within 30 days. Failed logins from other networks do not
 * delay logins from a known one; otherwise anyone could lock a customer out. Only keyed digests are stored.
 */
import { createHmac } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { type Clock, timestamp } from '../../clock.ts';
import type { Database, Sql } from '../../database/database.ts';
import { purgeInSlices } from '../../database/purge.ts';
import { customerQueries } from '../queries.ts';

const keptMs = 30 * 24 * 60 * 60_000;
/** Networks of one customer. */
const networksMax = 50;

export type KnownNetworks = ReturnType<typeof createKnownNetworks>;

export function createKnownNetworks(database: Database, clock: Clock, secret: string) {
  /** Different for each customer, so that the table does not show which customers share a network. */
  const digestOf = (customerId: number, clientIp: string) =>
    createHmac('sha256', secret)
      .update(JSON.stringify(['network', customerId, toNetwork(clientIp)]))
      .digest('hex');
  const oldest = () => timestamp(clock.now() - keptMs);

  return {
    /** false for a customer who does not exist (null), after the same time. */
    async isKnown(customerId: number | null, clientIp: string): Promise<boolean> {
      const id = customerId ?? 0;
      const row = await customerQueries(database).findNetwork(id, digestOf(id, clientIp), oldest());
      return row !== undefined;
    },

    /** Call it in the transaction of the login, which has locked the customer. */
    async remember(tx: Sql, customerId: number, clientIp: string) {
      const seenAt = timestamp(clock.now());
      await customerQueries(tx).upsertNetwork(customerId, digestOf(customerId, clientIp), seenAt);
      await customerQueries(tx).deleteOldestNetworks(customerId, networksMax);
    },

    /** Deletes networks without a login within 30 days. Call it regularly. */
    async purge() {
      await purgeInSlices(database, (tx, limit) => customerQueries(tx).deletePastNetworks(oldest(), limit));
    },
  };
}

/** The network of a client IP: the first 24 bits of IPv4; of IPv6, a client IP is the first 64 bits already. */
export function toNetwork(clientIp: string): string {
  return isIPv4(clientIp) ? `${clientIp.slice(0, clientIp.lastIndexOf('.'))}.0/24` : clientIp;
}

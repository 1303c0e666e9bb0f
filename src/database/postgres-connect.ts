/** The connections of the driver to one server, with the time limits of requests. */
import postgres from 'postgres';
import { openSocket } from './postgres-socket.ts';
import type { TlsSettings } from './postgres-tls.ts';

/** For one statement, waits for locks included. No request needs as long. */
const statementMs = 30_000;
/**
 * For one lock. All changes to the catalogue lock one row: without this limit they would wait as long as it is locked,
 * and occupy all connections meanwhile.
 */
const lockMs = 2500;
/** For a transaction of an instance that was stopped or cut off: its locks block all others. */
const idleInTransactionMs = 30_000;
const reconnectSeconds = 0.25;
const connectSeconds = 5;

export type Pool = postgres.Sql<{ bigint: number }>;

/** @param onStandby called when a connection is made to a standby, and when that is promoted */
export function openPool(
  { url, ssl }: TlsSettings,
  max: number,
  onStandby: (isStandby: boolean) => void,
): Pool {
  return postgres(url, {
    // At the limit of statements that have no result yet, the driver does not reserve a connection for its transaction.
    ...({ socket: openSocket, max_pipeline: Number.MAX_SAFE_INTEGER } as object),
    ssl,
    max,
    backoff: () => reconnectSeconds,
    connect_timeout: connectSeconds,
    // No arrays are read, and a connection that breaks while their types are fetched would end the process.
    fetch_types: false,
    onnotice: () => {},
    onparameter(name, value) {
      // Sent before the first response of a connection.
      if (name === 'in_hot_standby') {
        onStandby(value === 'on');
      }
    },
    // Ids are below 2^53, so they fit a JavaScript number.
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
    connection: {
      application_name: 'curd',
      statement_timeout: statementMs,
      lock_timeout: lockMs,
      idle_in_transaction_session_timeout: idleInTransactionMs,
    },
  });
}

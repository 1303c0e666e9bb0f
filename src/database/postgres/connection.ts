/** A connection to PostgreSQL by the driver `pg`, which sends statements at once and receives results in their order. */
import { Socket } from 'node:net';
import pg from 'pg';
import type { Value } from '../sql.ts';
import { lookupServer } from './addresses.ts';
import type { KnownText } from './known-texts.ts';
import {
  CONNECTION_LOST,
  isLost,
  isStalePlan,
  NOT_CONNECTED,
  READ_ONLY,
  toErrorCode,
} from './postgres-errors.ts';
import type { PostgresServer } from './url.ts';

/** Limit of one statement, waits for locks included. No request needs as long. */
const statementMs = 30_000;
/**
 * Limit of the wait for one lock. All changes to the catalogue lock one row: without this limit they would wait as long
 * as it is locked, and occupy all connections meanwhile.
 */
const lockMs = 2500;
/** Limit of a transaction of an instance that was stopped or cut off: its locks block all others. */
const idleInTransactionMs = 30_000;
const connectMs = 5000;
/** Limit of the first statement, which waits if all connections of a pooler to the server are busy. */
const checkMs = statementMs;
/** Idle connections notice then that the machine of the server has restarted, or that another one has its IP address. */
const keepAliveMs = 5000;
const int8 = 20;

/** What runs statements: a connection, or a transaction on it. */
export interface StatementTarget {
  /** @param known its name, without which it is not prepared; its duration is stored there */
  query(text: string, values?: readonly Value[], known?: KnownText): Promise<pg.QueryResult>;
}

export class Connection implements StatementTarget {
  readonly #client: pg.Client;
  readonly #socket: Socket;
  #isOpen = true;
  #pending = 0;
  #sentAt = 0;
  #respondedAt = performance.now();
  /** Runs statements without time limits, so that silence means nothing. */
  isPatient = false;

  constructor(client: pg.Client, socket: Socket) {
    this.#client = client;
    this.#socket = socket;
    // This listener prevents that a lost connection ends the process. Its statements are rejected by themselves.
    client.on('error', () => this.destroy());
    client.once('end', () => {
      this.#isOpen = false;
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Neither a statement nor a transaction is open. */
  get isFree(): boolean {
    return this.#isOpen && this.#pending === 0 && this.#client.getTransactionStatus() === 'I';
  }

  get respondedAt(): number {
    return this.#respondedAt;
  }

  /** How long a statement has waited without any response; 0 if none waits, or may wait for long. */
  silentMs(now: number): number {
    return this.#pending === 0 || this.isPatient ? 0 : now - Math.max(this.#sentAt, this.#respondedAt);
  }

  /** @throws errors of a lost connection with a code for `isLost` */
  query(text: string, values?: readonly Value[], known?: KnownText): Promise<pg.QueryResult> {
    if (this.#pending === 0) {
      this.#sentAt = performance.now();
    }
    this.#pending += 1;
    const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>();
    const config = { text, values, name: known?.name } as pg.QueryConfig;
    this.#client.query(config, (error: Error | null, result: pg.QueryResult) => {
      const now = performance.now();
      if (known !== undefined) {
        known.lastMs = now - Math.max(this.#sentAt, this.#respondedAt);
        known.isStale ||= error !== null && isStalePlan(error);
      }
      this.#pending -= 1;
      this.#respondedAt = now;
      if (error === null) {
        resolve(result);
      } else {
        reject(this.#withCode(error));
      }
    });
    return promise;
  }

  /** The driver gives errors of a lost connection no code. */
  #withCode(error: Error): Error {
    if (isLost(error)) {
      // The server announces that it closes the connection, which is still open for a moment.
      this.destroy();
    }
    return this.#isOpen || toErrorCode(error) !== ''
      ? error
      : Object.assign(error, { code: CONNECTION_LOST });
  }

  onEnd(listener: () => void): void {
    this.#client.once('end', listener);
  }

  onNotification(listener: () => void): void {
    this.#client.on('notification', listener);
  }

  /** Ends the session with the server. Call it only if `isFree`. */
  close(): void {
    this.#isOpen = false;
    this.#client.end(() => {});
  }

  /** Ends the connection at once, with all its statements. */
  destroy(): void {
    this.#isOpen = false;
    this.#socket.destroy();
  }
}

/** A socket for `connect`. Whoever makes it can destroy it, also while it connects. */
export function createSocket(): Socket {
  const socket = new Socket();
  const connect = socket.connect.bind(socket);
  // The driver calls it with a port and a host, or with the path of a Unix socket.
  return Object.assign(socket, {
    connect: (place: number | string, host?: string) =>
      host === undefined
        ? connect(String(place))
        : connect({ port: Number(place), host, lookup: lookupServer }),
  });
}

/** Opens a connection to a server that accepts writes. @throws an error for `isUnconnected`, or READ_ONLY for a standby */
export async function connectToPrimary(server: PostgresServer, socket: Socket): Promise<Connection> {
  const connection = await openConnection(server, socket);
  const timer = setTimeout(() => connection.destroy(), checkMs);
  const { rows } = await connection
    .query('select pg_is_in_recovery() as standby')
    .catch((error) => {
      throw isLost(error) ? notConnected(error) : error;
    })
    .finally(() => clearTimeout(timer));
  if (rows[0].standby) {
    connection.destroy();
    throw Object.assign(new Error('The server is a standby.'), { code: READ_ONLY });
  }
  return connection;
}

/** @throws an error for `isUnconnected`, or another one with the reason of the server */
export async function openConnection(server: PostgresServer, socket: Socket): Promise<Connection> {
  const client = new pg.Client({ ...settingsOf(server), stream: () => socket });
  const connection = new Connection(client, socket);
  try {
    await client.connect();
    return connection;
  } catch (error) {
    socket.destroy();
    throw toErrorCode(error) === '' || isLost(error) ? notConnected(error) : error;
  }
}

/** Nothing was sent. */
function notConnected(cause: unknown): Error {
  return Object.assign(new Error('No connection was made.', { cause }), { code: NOT_CONNECTED });
}

function settingsOf({ host, port, user, password, database, ssl }: PostgresServer): pg.ClientConfig {
  return {
    host,
    port,
    user,
    password,
    database,
    ssl,
    pipeline: true,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    application_name: 'curd',
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    types: { getTypeParser },
  };
}

/** Ids are below 2^53, so they fit a JavaScript number. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  // biome-ignore lint/suspicious/noExplicitAny: the driver declares an overload for each format.
  oid === int8 ? Number : pg.types.getTypeParser(oid, format as any);

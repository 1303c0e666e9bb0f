/**
 * The connections to the database server that accepts writes, one of those in the URL. They are opened when first needed,
 * and again after they were lost.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DatabaseError } from 'pg';
import { unavailable } from '../../errors.ts';
import { prepareLookup } from './addresses.ts';
import { createSocket, openConnection } from './connection.ts';
import { Listener } from './listener.ts';
import { ConnectionPool } from './pool.ts';
import {
  isRetryable,
  isUnconnected,
  READ_ONLY,
  toErrorCode,
  translatePostgresError,
} from './postgres-errors.ts';
import type { PostgresServer } from './url.ts';

const attemptsMax = 5;
/** Limit of statements that still run when the server ends its work. */
const secondsToEndMax = 5;
/** Wait between two attempts to connect while no server accepts writes. */
const outageMs = 250;
const watchMs = 1000;
/**
 * A silence of this length starts a probe: a new connection must be made within `probeMs`, or the server is silent: its
 * machine or the network fails. Together with `watchMs`, that is noticed within 6 seconds.
 */
const silenceMs = 3000;
const probeMs = 2000;
/** A connection without a response for so long is dead, although the server is not: no statement of a request runs as long. */
const deadMs = 40_000;

export class Primary {
  readonly #servers: readonly PostgresServer[];
  readonly #connections: number;
  readonly #slowMax: number;
  readonly #listeners = new Set<Listener>();
  readonly #watch: NodeJS.Timeout;
  /** Index of the server that was found last. */
  #server = 0;
  #pool: ConnectionPool;
  #outageUntil = 0;
  #isProbing = false;
  readonly #unresolved: PostgresServer[];

  /** @param slowMax connections that slow statements outside of transactions may use */
  constructor(servers: readonly PostgresServer[], connections: number, slowMax: number) {
    this.#servers = servers;
    this.#unresolved = [...servers];
    this.#connections = connections;
    this.#slowMax = slowMax;
    this.#pool = this.#openPool();
    this.#watch = setInterval(() => void this.#lookForSilence(), watchMs).unref();
  }

  /** How many tasks wait for a connection. */
  get waiting(): number {
    return this.#pool.waiting;
  }

  /**
   * Runs `work`, again after errors of class 40, which leave no change, and on the other servers.
   * @throws translated errors
   */
  async run<T>(work: (pool: ConnectionPool) => Promise<T>): Promise<T> {
    let serversTried = 0;
    for (let attempts = 1; ; attempts += 1) {
      const used = this.#pool;
      try {
        if (performance.now() < this.#outageUntil) {
          throw unavailable('No database server accepts changes right now. Try again shortly.', 1);
        }
        return await work(used);
      } catch (error) {
        if (this.#isUnusable(error)) {
          this.#useNext(used);
          serversTried += 1;
          if (serversTried < this.#servers.length) {
            continue;
          }
          this.#outageUntil = performance.now() + outageMs;
        }
        if (!isRetryable(error)) {
          throw translatePostgresError(error);
        }
        if (attempts >= attemptsMax) {
          throw unavailable('Concurrent changes are in conflict with this one. Try again shortly.', 1, error);
        }
      }
    }
  }

  /** Returns a function that ends it. */
  async listen(channel: string, onMessage: () => void): Promise<() => Promise<void>> {
    const listener = new Listener(() => this.#current, channel, onMessage);
    this.#listeners.add(listener);
    const stop = async () => {
      this.#listeners.delete(listener);
      listener.stop();
    };
    try {
      await listener.start();
    } catch (error) {
      await stop();
      throw error;
    }
    return stop;
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    for (const listener of this.#listeners) {
      listener.stop();
    }
    // Statements that lose their server meanwhile replace the pool.
    for (let ended: ConnectionPool | undefined; ended !== this.#pool; ) {
      ended = this.#pool;
      await ended.end(secondsToEndMax);
    }
  }

  get #current(): PostgresServer {
    return this.#servers[this.#server] as PostgresServer;
  }

  #openPool(): ConnectionPool {
    return new ConnectionPool(this.#current, this.#connections, this.#slowMax);
  }

  /** Whether the server that was used cannot run any statement. */
  #isUnusable(error: unknown): boolean {
    return toErrorCode(error) === READ_ONLY || (isUnconnected(error) && this.#servers.length > 1);
  }

  /** Replaces all connections by those to the next server, if no other request has done so. */
  #useNext(used: ConnectionPool): void {
    if (used === this.#pool) {
      this.#server = (this.#server + 1) % this.#servers.length;
      this.#pool = this.#openPool();
      void used.end(0);
      for (const listener of this.#listeners) {
        listener.restart();
      }
    }
  }

  async #lookForSilence(): Promise<void> {
    // So that the first connection to another server does not wait for its name. Short commands have ended by now.
    for (const { host } of this.#unresolved.splice(0)) {
      prepareLookup(host);
    }
    // A process that was stopped, or was busy, has responses to read.
    await nextTurn();
    const now = performance.now();
    const pool = this.#pool;
    pool.destroySilent(now, deadMs);
    if (!this.#isProbing && pool.silentMs(now) > silenceMs) {
      this.#isProbing = true;
      void this.#probe(pool).finally(() => {
        this.#isProbing = false;
      });
    }
  }

  /** Replaces all connections if no new one can be made, and no response has come meanwhile. */
  async #probe(used: ConnectionPool): Promise<void> {
    const socket = createSocket();
    const timer = setTimeout(() => socket.destroy(), probeMs);
    try {
      const connection = await openConnection(this.#current, socket);
      connection.close();
    } catch (error) {
      // An error from the server is a sign of life.
      await nextTurn();
      if (!(error instanceof DatabaseError) && used.silentMs(performance.now()) > silenceMs) {
        this.#useNext(used);
      }
    } finally {
      clearTimeout(timer);
    }
  }
}

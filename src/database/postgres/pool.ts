/** A connection pool for one server. Each transaction has a connection for itself; quick statements share one if many wait. */
import type { Socket } from 'node:net';
import type pg from 'pg';
import type { Value } from '../sql.ts';
import { type Connection, connectToPrimary, createSocket } from './connection.ts';
import { isQuick, type KnownText } from './known-texts.ts';
import { NOT_CONNECTED, READ_ONLY, toErrorCode } from './postgres-errors.ts';
import type { PostgresServer } from './url.ts';

/** Wait after a failed attempt to connect, while other connections are open. */
const retryMs = 250;
/**
 * A connection that becomes free gets a quarter of the quick statements that wait, and at most so many. More are cheaper,
 * because their results arrive together, but each of them can wait for those before it.
 */
const batchMax = 16;
const batchShare = 0.25;
/** The number of connections from which on one is for quick statements alone. */
const sharedMin = 4;

/** Statements that wait for a connection, by what may run beside them. */
type Lane = 'quick' | 'slow' | 'transaction';

interface Task {
  readonly lane: Lane;
  /** Text of a quick statement. */
  readonly known: KnownText | undefined;
  /** Rises with the time of arrival. */
  readonly number: number;
  /** Never rejects. */
  readonly run: (connection: Connection) => Promise<unknown>;
  /** Replaces `run` if no connection was made, with an error for `isUnconnected` or READ_ONLY. */
  readonly reject: (error: unknown) => void;
}

export class ConnectionPool {
  readonly #server: PostgresServer;
  readonly #max: number;
  readonly #slowMax: number;
  readonly #longMax: number;
  readonly #sockets = new Set<Socket>();
  readonly #open = new Set<Connection>();
  readonly #free: Connection[] = [];
  /** Each lane is in the order of arrival. */
  readonly #waiting: Record<Lane, Task[]> = { quick: [], slow: [], transaction: [] };
  #tasks = 0;
  #slow = 0;
  /** The number of connections on which each quick statement runs. */
  readonly #quick = new Map<KnownText | undefined, number>();
  /** Connections with slow statements or transactions. */
  #long = 0;
  #connecting = 0;
  #retryAt = 0;
  #isEnding = false;
  readonly #ended = Promise.withResolvers<void>();

  /**
   * @param slowMax connections that statements of unknown or long duration may use at once, and those of one quick text:
   * it is quick until it takes long, such as behind a lock
   */
  constructor(server: PostgresServer, max: number, slowMax: number) {
    this.#server = server;
    this.#max = max;
    this.#slowMax = slowMax;
    this.#longMax = max < sharedMin ? max : max - 1;
  }

  /** How many wait for a connection. */
  get waiting(): number {
    const { quick, slow, transaction } = this.#waiting;
    return quick.length + slow.length + transaction.length;
  }

  /** Runs one statement. One that changes something may wait for locks, so none is sent behind it. */
  query(
    text: string,
    values: readonly Value[],
    known: KnownText | undefined,
    isChange: boolean,
  ): Promise<pg.QueryResult> {
    const lane = isChange ? 'transaction' : isQuick(known) ? 'quick' : 'slow';
    return this.#enqueue(lane, (connection) => connection.query(text, values, known), known);
  }

  /**
   * Runs `work` with a connection that nothing else uses. It is closed if a transaction is still open afterwards.
   * @param isPatient whether its statements have no time limits
   */
  during<T>(work: (connection: Connection) => Promise<T>, isPatient = false): Promise<T> {
    return this.#enqueue('transaction', (connection) => {
      connection.isPatient = isPatient;
      return work(connection);
    });
  }

  /** Returns how long a statement has waited while no response came on any connection; 0 if none waits. */
  silentMs(now: number): number {
    let longest = 0;
    let sinceResponse = Infinity;
    for (const connection of this.#open) {
      longest = Math.max(longest, connection.silentMs(now));
      sinceResponse = Math.min(sinceResponse, now - connection.respondedAt);
    }
    return Math.max(0, Math.min(longest, sinceResponse));
  }

  /** Ends connections on which a statement has had no response for so long. */
  destroySilent(now: number, silentMs: number): void {
    for (const connection of this.#open) {
      if (connection.silentMs(now) > silentMs) {
        connection.destroy();
      }
    }
  }

  /** Refuses what waits, and closes all connections. What runs has some seconds to end. */
  async end(seconds: number): Promise<void> {
    this.#isEnding = true;
    this.#rejectWaiting(Object.assign(new Error('The pool was ended.'), { code: NOT_CONNECTED }));
    for (const connection of this.#free.splice(0)) {
      connection.close();
    }
    const destroyAll = () => {
      for (const socket of this.#sockets) {
        socket.destroy();
      }
    };
    const timer = seconds === 0 ? destroyAll() : setTimeout(destroyAll, seconds * 1000);
    if (this.#sockets.size > 0) {
      await this.#ended.promise;
    }
    clearTimeout(timer ?? undefined);
  }

  #enqueue<T>(
    lane: Lane,
    work: (connection: Connection) => Promise<T>,
    known?: KnownText | undefined,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#isEnding) {
        reject(Object.assign(new Error('The pool was ended.'), { code: NOT_CONNECTED }));
        return;
      }
      this.#tasks += 1;
      const run = (connection: Connection) => work(connection).then(resolve, reject);
      this.#waiting[lane].push({ lane, known, number: this.#tasks, run, reject });
      this.#startWaiting();
    });
  }

  #startWaiting(): void {
    for (let lane = this.#nextLane(); lane !== undefined; lane = this.#nextLane()) {
      const connection = this.#popFree();
      if (connection === undefined) {
        this.#openMore();
        return;
      }
      void this.#run(lane, connection);
    }
  }

  /** One that was lost is removed by a later event. */
  #popFree(): Connection | undefined {
    let connection = this.#free.pop();
    while (connection !== undefined && !connection.isOpen) {
      connection = this.#free.pop();
    }
    return connection;
  }

  /** The lane whose first task has waited longest, of those that may start. */
  #nextLane(): Lane | undefined {
    const { quick, slow, transaction } = this.#waiting;
    let next = quick.find((task) => this.#mayStart(task));
    if (this.#long < this.#longMax) {
      for (const task of [this.#slow < this.#slowMax ? slow[0] : undefined, transaction[0]]) {
        next = task !== undefined && (next === undefined || task.number < next.number) ? task : next;
      }
    }
    return next?.lane;
  }

  #mayStart({ known }: Task): boolean {
    return (this.#quick.get(known) ?? 0) < this.#slowMax;
  }

  async #run(lane: Lane, connection: Connection): Promise<void> {
    if (lane === 'quick') {
      await this.#runQuick(connection);
    } else {
      const slow = lane === 'slow' ? 1 : 0;
      this.#slow += slow;
      this.#long += 1;
      await this.#waiting[lane].shift()?.run(connection);
      this.#slow -= slow;
      this.#long -= 1;
    }
    this.#release(connection);
  }

  /** Sends many quick statements at once if many wait. */
  async #runQuick(connection: Connection): Promise<void> {
    const { quick } = this.#waiting;
    const share = Math.min(batchMax, Math.ceil(quick.length * batchShare));
    const tasks: Task[] = [];
    for (let at = 0; at < quick.length && tasks.length < share; ) {
      const task = quick[at] as Task;
      if (this.#mayStart(task)) {
        tasks.push(task);
        quick.splice(at, 1);
      } else {
        at += 1;
      }
    }
    const texts = new Set(tasks.map(({ known }) => known));
    for (const text of texts) {
      this.#quick.set(text, (this.#quick.get(text) ?? 0) + 1);
    }
    await Promise.all(tasks.map(({ run }) => run(connection)));
    for (const text of texts) {
      const left = (this.#quick.get(text) ?? 0) - 1;
      if (left === 0) {
        this.#quick.delete(text);
      } else {
        this.#quick.set(text, left);
      }
    }
  }

  #release(connection: Connection): void {
    connection.isPatient = false;
    if (this.#isEnding && connection.isFree) {
      connection.close();
    } else if (connection.isFree) {
      this.#free.push(connection);
    } else {
      // The next one would continue its transaction.
      connection.destroy();
    }
    this.#startWaiting();
  }

  #openMore(): void {
    const isTooSoon = this.#open.size > 0 && performance.now() < this.#retryAt;
    const missing = isTooSoon ? 0 : Math.min(this.waiting, this.#max - this.#open.size) - this.#connecting;
    for (let opened = 0; opened < missing; opened += 1) {
      void this.#connect();
    }
  }

  async #connect(): Promise<void> {
    this.#connecting += 1;
    try {
      const connection = await connectToPrimary(this.#server, this.#createSocket());
      this.#connecting -= 1;
      this.#open.add(connection);
      connection.onEnd(() => this.#remove(connection));
      this.#release(connection);
    } catch (error) {
      this.#connecting -= 1;
      this.#retryAt = performance.now() + retryMs;
      if (this.#open.size + this.#connecting === 0 || toErrorCode(error) === READ_ONLY) {
        this.#rejectWaiting(error);
      } else {
        // The open connections continue, for example if the server permits no more of them.
        setTimeout(() => this.#startWaiting(), retryMs).unref();
      }
    }
  }

  #createSocket(): Socket {
    const socket = createSocket();
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#isEnding && this.#sockets.size === 0) {
        this.#ended.resolve();
      }
    });
    return socket;
  }

  #remove(connection: Connection): void {
    this.#open.delete(connection);
    const index = this.#free.indexOf(connection);
    if (index >= 0) {
      this.#free.splice(index, 1);
    }
    this.#startWaiting();
  }

  #rejectWaiting(error: unknown): void {
    for (const tasks of Object.values(this.#waiting)) {
      for (const { reject } of tasks.splice(0)) {
        reject(error);
      }
    }
  }
}

/**
 * A transaction on PostgreSQL in few round trips: `begin` is sent together with the first statement, and the commit
 * together with the statements before it whose results nothing waits for. PostgreSQL runs them in their order. After one
 * that fails, it refuses all others and turns the commit into a rollback.
 */
import type pg from 'pg';
import type { Value } from '../sql.ts';
import type { StatementTarget } from './connection.ts';
import type { KnownText } from './known-texts.ts';
import { IN_FAILED_TRANSACTION, isLost, isStalePlan, toErrorCode } from './postgres-errors.ts';

/** More statements without a result fill the memory. */
const sentMax = 16;

export class PostgresTransaction implements StatementTarget {
  readonly #connection: StatementTarget;
  /** If it could not begin, statements would be committed one by one. */
  #isBegun = false;
  readonly #begun: Promise<void>;
  /** Why no further statement is sent. */
  #refusal: unknown;
  /** Results of statements that nothing waits for. They never reject. */
  #results: Promise<void>[] = [];
  #withoutResult = 0;
  /** The error of the first of them that failed. */
  #failure: unknown;
  /** Statements that will be sent when something else has ended. */
  readonly #unsent = new Set<Promise<void>>();
  /** Called before each statement, for rows that wait for it. */
  sendRows: () => void = () => {};
  dropRows: () => void = () => {};

  /** @param options of `begin` */
  constructor(connection: StatementTarget, options: string) {
    this.#connection = connection;
    this.#begun = connection.query(`begin ${options}`).then(
      () => {
        this.#isBegun = true;
      },
      (error) => {
        this.#refusal ??= error;
      },
    );
  }

  query(text: string, values?: readonly Value[], known?: KnownText): Promise<pg.QueryResult> {
    if (this.#refusal !== undefined) {
      return Promise.reject(this.#refusal);
    }
    if (text.startsWith('rollback')) {
      this.dropRows();
    }
    this.sendRows();
    return this.#connection.query(text, values, known);
  }

  /** Runs a query, and throws the error of an earlier statement if PostgreSQL refused this one because of it. */
  async queryOrFailure(
    text: string,
    values: readonly Value[],
    known: KnownText | undefined,
  ): Promise<pg.QueryResult> {
    const query = this.query(text, values, known);
    const before = this.#results.length;
    try {
      return await query;
    } catch (error) {
      if (toErrorCode(error) !== IN_FAILED_TRANSACTION && !isStalePlan(error)) {
        throw error;
      }
      await Promise.all(this.#results.slice(0, before));
      throw this.#failure ?? error;
    }
  }

  /** Starts a statement whose result nothing waits for. Waits if too many of them have none. */
  async send(start: () => Promise<unknown>): Promise<void> {
    await this.whenBegun(() => {
      this.#withoutResult += 1;
      const ended = start().then(
        () => {
          this.#withoutResult -= 1;
        },
        (error) => {
          this.#withoutResult -= 1;
          this.#failure ??= error;
        },
      );
      this.#results.push(ended);
    });
    if (this.#withoutResult > sentMax) {
      await this.#results.at(-1);
    }
  }

  async whenBegun(start: () => void): Promise<void> {
    if (this.#isBegun) {
      start();
    } else {
      await this.after(this.#begun, start);
    }
  }

  /** Calls `start`, which sends a statement, when something has ended. The commit is not sent before. */
  async after<T>(ready: Promise<T>, start: (result: T) => void): Promise<void> {
    const started = ready.then(start);
    this.#unsent.add(started);
    try {
      await started;
    } finally {
      this.#unsent.delete(started);
    }
  }

  /** Resolves when no statement of the work waits to be sent. */
  async allSent(): Promise<void> {
    while (this.#unsent.size > 0) {
      await Promise.allSettled(this.#unsent);
    }
  }

  /** Waits for all statements that were sent. Returns the error of the first one that failed, which then counts as handled. */
  async takeFailure(): Promise<unknown> {
    await Promise.all(this.#results);
    const failure = this.#failure;
    this.#failure = undefined;
    this.#results = [];
    return failure;
  }

  /** Runs `work`, and commits. @throws the error of the first statement that failed */
  async complete<T>(work: () => Promise<T>): Promise<T> {
    const outcome = await work().then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
    if ('error' in outcome && isLost(outcome.error)) {
      throw outcome.error;
    }
    await this.allSent();
    const ending = this.query('error' in outcome ? 'rollback' : 'commit');
    this.#refusal ??= new Error('A statement was sent after the end of its transaction.');
    const { command } = await ending;
    // A statement that was sent failed before the work did.
    const failure = await this.takeFailure();
    if (failure !== undefined) {
      throw failure;
    }
    if ('error' in outcome) {
      throw outcome.error;
    }
    if (command !== 'COMMIT') {
      throw new Error('PostgreSQL has rolled the transaction back.');
    }
    return outcome.result;
  }
}

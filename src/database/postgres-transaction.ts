/**
 * A transaction on PostgreSQL in few round trips: `begin` is sent together with the first statement, and the commit
 * together with the statements before it whose results nothing waits for. PostgreSQL runs them in their order. After one
 * that fails, it refuses all others and turns the commit into a rollback.
 *
 * The transactions of the driver wait for `begin` and for the statement before the commit.
 */
import type postgres from 'postgres';
import { codeOf, isLost } from './postgres-errors.ts';
import type { Connection, SentStatements } from './postgres-statements.ts';

/** The parts of a connection of the driver (version 3.4) that its own transactions use. */
interface DriverConnection {
  /** False where the next query must wait. */
  execute(query: DriverQuery): boolean;
  /** Called when all queries have a result. Once the transaction has ended, the driver frees the connection instead. */
  reserved: () => void;
  onclose: (error: unknown) => void;
}

interface DriverQuery {
  /** Called with the query when its result is first awaited. */
  handler: (query: DriverQuery) => void;
  reject(error: unknown): void;
}

/**
 * Runs `work`, and commits. A connection that breaks ends the transaction at once: the driver would send the next
 * statement to a closed socket, and the process would end.
 * @param options of `begin` @throws the error of the first statement that failed
 */
export function runTransaction<T>(
  pool: postgres.Sql<{ bigint: number }>,
  options: string,
  work: (connection: Connection, sent: SentStatements) => Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const waiting: DriverQuery[] = [];
    let used: DriverConnection | undefined;
    let isReady = false;
    /** Why no further statement is sent. */
    let refusal: unknown;

    function refuse(error: unknown): void {
      refusal ??= error;
      reject(error);
      for (const query of waiting.splice(0)) {
        query.reject(error);
      }
    }

    function sendWaiting(): void {
      while (isReady && waiting.length > 0) {
        isReady = (used as DriverConnection).execute(waiting.shift() as DriverQuery);
      }
    }

    function enqueue(query: DriverQuery): void {
      waiting.push(query);
      sendWaiting();
    }

    /** The driver has sent `begin` on this connection. */
    function onexecute(connection: DriverConnection): boolean {
      used = connection;
      connection.onclose = refuse;
      connection.reserved = () => {
        isReady = true;
        sendWaiting();
      };
      connection.reserved();
      // The driver itself must send nothing else on it.
      return false;
    }

    /**
     * The driver does not call `onexecute` where it has sent too much on the connection before. It uses the connection,
     * which is in a transaction now, for other statements. Nothing would commit them.
     */
    function replacePool(): void {
      void pool.end({ timeout: 0 });
      refuse(Object.assign(new Error('The transaction has no connection.'), { code: 'CONNECTION_CLOSED' }));
    }

    const begun = pool.unsafe(`begin ${options}`, [], { onexecute } as object).then(
      () => {
        if (used === undefined) {
          replacePool();
        } else {
          sent.isBegun = true;
        }
      },
      (error) => (codeOf(error) === 'UNSAFE_TRANSACTION' ? replacePool() : refuse(error)),
    );
    const sent: SentStatements = {
      isBegun: false,
      begun,
      results: [],
      waiting: 0,
      failure: undefined,
      inserts: [],
      sendInserts: () => {},
    };

    const connection: Connection = {
      unsafe(text, values, queryOptions) {
        if (refusal !== undefined) {
          return Promise.reject(refusal) as never;
        }
        if (text.startsWith('rollback')) {
          sent.inserts.length = 0;
        }
        sent.sendInserts();
        const query = pool.unsafe(text, values, queryOptions);
        (query as unknown as DriverQuery).handler = enqueue;
        return query as never;
      },
    };

    async function runAndEnd(): Promise<T> {
      const outcome = await work(connection, sent).then(
        (result) => ({ result }),
        (error: unknown) => ({ error }),
      );
      if ('error' in outcome && isLost(outcome.error)) {
        throw outcome.error;
      }
      const ending = connection.unsafe('error' in outcome ? 'rollback' : 'commit');
      refusal ??= new Error('A statement was sent after the end of its transaction.');
      const { command } = await ending;
      await Promise.all(sent.results);
      // A statement that was sent failed before the work did.
      if (sent.failure !== undefined) {
        throw sent.failure;
      }
      if ('error' in outcome) {
        throw outcome.error;
      }
      if (command !== 'COMMIT') {
        throw new Error('PostgreSQL has rolled the transaction back.');
      }
      return outcome.result;
    }
    runAndEnd().then(resolve, reject);
  });
}

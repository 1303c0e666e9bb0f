/**
 * Idempotency keys: a POST that is sent again with the same key returns the response to the first one, and runs once.
 * The response is stored in the transaction of the change, so a crash cannot separate the two.
 *
 * Stored responses are encrypted (AES-256-GCM, key derived from CURD_SECRET): one may contain an API key, which is shown
 * only once.
 */
import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync } from 'node:crypto';
import { type Clock, timestamp } from '../clock.ts';
import type { Database, Sql, Transaction } from '../database/database.ts';
import { AppError, validationError } from '../errors.ts';
import { idempotencyQueries } from './queries.ts';

export const idempotencyHours = 24;
const lifetimeMs = idempotencyHours * 60 * 60 * 1000;

/** A response in a form that can be stored. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * When the stored response is looked up. Usually in the transaction of the work: a separate lookup costs a tenth of the
 * CPU time of an order. `beforeWork` is for work that costs far more than that. `afterChecks` is for work whose checks
 * must run even for a replay: only its transaction looks.
 */
export type ReplayTime = 'inTransaction' | 'beforeWork' | 'afterChecks';

export interface KeyedRequest {
  /** The principal or client IP: keys are separate for each. */
  readonly scope: string;
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly key: string;
  readonly body: Uint8Array;
  readonly replay: ReplayTime;
}

/** Ends a transaction whose response is already stored. */
class Replay extends Error {
  readonly response: StoredResponse;

  constructor(response: StoredResponse) {
    super('the response is stored already');
    this.response = response;
  }
}

export interface IdempotencyStore {
  /**
   * Runs `work` once for each key. `work` makes its change in the transaction that it receives, which stores the
   * response too. Later requests with the key get the stored response, with `isReplay`.
   * @throws AppError conflict while the first request runs, validation where the key was used for another request
   */
  run<T>(
    request: KeyedRequest,
    work: (transaction: Transaction) => Promise<T>,
    toResponse: (result: T) => StoredResponse,
  ): Promise<{ response: StoredResponse; isReplay: boolean }>;
  /** Deletes expired responses. Call it regularly. */
  purge(): Promise<void>;
}

/** @param secret at least 32 bytes, the same for all instances on a database */
export function createIdempotencyStore(database: Database, clock: Clock, secret: string): IdempotencyStore {
  const encryptionKey = Buffer.from(hkdfSync('sha256', secret, '', 'idempotent answers', 32));
  const fingerprintKey = Buffer.from(hkdfSync('sha256', secret, '', 'idempotency fingerprints', 32));
  const running = new Set<string>();

  function encrypt(id: string, response: StoredResponse): string {
    const nonce = clock.random(12);
    const cipher = createCipheriv('aes-256-gcm', encryptionKey, nonce).setAAD(Buffer.from(id));
    const encrypted = Buffer.concat([cipher.update(JSON.stringify(response)), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64');
  }

  function decrypt(id: string, text: string): StoredResponse {
    const bytes = Buffer.from(text, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', encryptionKey, bytes.subarray(0, 12)).setAAD(
      Buffer.from(id),
    );
    decipher.setAuthTag(bytes.subarray(12, 28));
    return JSON.parse(decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8'));
  }

  /** Looks up the response of an idempotent replay; null for a first request. */
  async function findStored(id: string, fingerprint: string, sql: Sql): Promise<StoredResponse | null> {
    const row = await idempotencyQueries(sql).find(id, timestamp(clock.now()));
    if (row === undefined) {
      return null;
    }
    if (row.fingerprint !== fingerprint) {
      throw validationError([
        { field: '', message: 'this Idempotency-Key was used for another request: send a new one' },
      ]);
    }
    return decrypt(id, row.sealed);
  }

  /** The transaction of the database, with the lookup before the work and the response stored after it. */
  function storingTransaction<T>(
    id: string,
    fingerprint: string,
    toResponse: (result: T) => StoredResponse,
  ): Transaction {
    return (work) =>
      database.transaction(async (tx) => {
        const stored = await findStored(id, fingerprint, tx);
        if (stored !== null) {
          throw new Replay(stored);
        }
        const result = await work(tx);
        const sealed = encrypt(id, toResponse(result as unknown as T));
        const now = clock.now();
        await idempotencyQueries(tx).deleteExpired(id, timestamp(now));
        await idempotencyQueries(tx).insert(id, { fingerprint, sealed }, timestamp(now + lifetimeMs));
        return result;
      });
  }

  return {
    async run({ scope, method, url, key, body, replay }, work, toResponse) {
      const path = url.split('?', 1)[0];
      const id = hash('sha256', JSON.stringify([scope, method, path, key]));
      // With a key: a body may contain a password, which could be guessed from a plain digest.
      const fingerprint = createHmac('sha256', fingerprintKey)
        .update(`${method} ${url}\n`)
        .update(body)
        .digest('hex');
      const isAfterChecks = replay === 'afterChecks';
      if (!isAfterChecks && running.has(id)) {
        throw new AppError('conflict', 'The first request with this Idempotency-Key is still running.', {
          details: { retryAfterMs: 1000 },
        });
      }
      running.add(id);
      try {
        // The lookup in the transaction stays: another instance may run the same request.
        const earlier = replay === 'beforeWork' ? await findStored(id, fingerprint, database) : null;
        if (earlier !== null) {
          return { response: earlier, isReplay: true };
        }
        const result = await work(storingTransaction(id, fingerprint, toResponse));
        return { response: toResponse(result), isReplay: false };
      } catch (error) {
        if (error instanceof Replay) {
          return { response: error.response, isReplay: true };
        }
        // Errors of the route take precedence: the checks that throw them must run even for a replay.
        if (isAfterChecks && error instanceof AppError) {
          throw error;
        }
        // Another instance may have stored its response first: this change was rolled back, and that response counts.
        const stored = await findStored(id, fingerprint, database);
        if (stored === null) {
          throw error;
        }
        return { response: stored, isReplay: true };
      } finally {
        running.delete(id);
      }
    },
    async purge() {
      await idempotencyQueries(database).deleteAllExpired(timestamp(clock.now()));
    },
  };
}

/**
 * Idempotency-Key: a POST sent again with the same key is answered with what the first one was answered, and runs
 * once. The answer is stored in the transaction of the change itself, so no crash can part the two.
 *
 * Stored answers are sealed (AES-256-GCM, key from CURD_SECRET): one of them may hold an API key that is shown once.
 */
import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync } from 'node:crypto';
import { type Clock, timestamp } from '../clock.ts';
import type { Database, Transaction } from '../database/database.ts';
import { deleteUnlocked, sql } from '../database/sql.ts';
import { AppError, validationError } from '../errors.ts';

export const idempotencyHours = 24;
const lifetimeMs = idempotencyHours * 60 * 60 * 1000;
export const keyLengthMax = 255;

/** An answer in a form that can be kept. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * When the stored response is looked up. In the transaction of the work, as a rule: a look-up of its own costs a tenth of
 * the CPU time of an order. `beforeWork` is for work that costs far more than that. `afterChecks` is for work whose
 * checks a look-up must not skip or replace: only its transaction looks.
 */
export type ReplayTime = 'inTransaction' | 'beforeWork' | 'afterChecks';

export interface KeyedRequest {
  /** Who sends it: keys of different callers never meet. */
  readonly scope: string;
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly key: string;
  readonly body: Uint8Array;
  readonly replay: ReplayTime;
}

/** Thrown out of a transaction that need not run, because its answer is known. */
class Replay extends Error {
  readonly answer: StoredResponse;

  constructor(response: StoredResponse) {
    super('already answered');
    this.answer = response;
  }
}

/** The key of the header: a structured-field string (RFC 9651, as the IETF draft has it), or bare. */
export function parseIdempotencyKey(header: string): string {
  const text = header.trim();
  const quoted = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(text)?.[1];
  const key = quoted?.replace(/\\(.)/g, '$1') ?? text;
  if (key === '' || key.length > keyLengthMax || (quoted === undefined && !/^[\x21\x23-\x7e]+$/.test(key))) {
    throw new AppError('badRequest', `Idempotency-Key: send 1 to ${keyLengthMax} visible ASCII characters.`);
  }
  return key;
}

export interface IdempotencyStore {
  /**
   * Runs `work` once for an attempt. `work` gets the transaction to write in and how to remember its result;
   * the second time, the first answer comes back with `isReplay`.
   * @throws AppError conflict while the first attempt runs, validation where the key was used for another request
   */
  run<T>(
    attempt: KeyedRequest,
    work: (transaction: Transaction) => Promise<T>,
    answerFor: (result: T) => StoredResponse,
  ): Promise<{ answer: StoredResponse; isReplay: boolean }>;
  /** Deletes what has expired. */
  purge(): Promise<void>;
}

/** `purge` is to be called now and then. @param secret at least 32 bytes, the same for all servers on a database */
export function createIdempotencyStore(database: Database, clock: Clock, secret: string): IdempotencyStore {
  const sealingKey = Buffer.from(hkdfSync('sha256', secret, '', 'idempotent answers', 32));
  const fingerprintKey = Buffer.from(hkdfSync('sha256', secret, '', 'idempotency fingerprints', 32));
  const running = new Set<string>();

  function seal(id: string, response: StoredResponse): string {
    const nonce = clock.random(12);
    const cipher = createCipheriv('aes-256-gcm', sealingKey, nonce).setAAD(Buffer.from(id));
    const sealed = Buffer.concat([cipher.update(JSON.stringify(response)), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
  }

  function unseal(id: string, text: string): StoredResponse {
    const bytes = Buffer.from(text, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', sealingKey, bytes.subarray(0, 12)).setAAD(
      Buffer.from(id),
    );
    decipher.setAuthTag(bytes.subarray(12, 28));
    return JSON.parse(decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8'));
  }

  async function findStored(
    id: string,
    fingerprint: string,
    sqlRunner: Pick<Database, 'get'>,
  ): Promise<StoredResponse | null> {
    const row = await sqlRunner.get<{ fingerprint: string; sealed: string }>(sql`
      select fingerprint, sealed from idempotent_answer
      where id = ${id} and expires_at > ${timestamp(clock.now())}`);
    if (row === undefined) {
      return null;
    }
    if (row.fingerprint !== fingerprint) {
      throw validationError([
        { field: '', message: 'this Idempotency-Key was used for another request: take a new one' },
      ]);
    }
    return unseal(id, row.sealed);
  }

  /** The database's transaction, with the check before the work and the answer stored after it. */
  function remembering<T>(
    id: string,
    fingerprint: string,
    answerFor: (result: T) => StoredResponse,
  ): Transaction {
    return (work) =>
      database.transaction(async (tx) => {
        const stored = await findStored(id, fingerprint, tx);
        if (stored !== null) {
          throw new Replay(stored);
        }
        const result = await work(tx);
        const sealed = seal(id, answerFor(result as unknown as T));
        await tx.run(
          sql`delete from idempotent_answer where id = ${id} and expires_at <= ${timestamp(clock.now())}`,
        );
        await tx.run(sql`
          insert into idempotent_answer (id, fingerprint, sealed, expires_at)
          values (${id}, ${fingerprint}, ${sealed}, ${timestamp(clock.now() + lifetimeMs)})`);
        return result;
      });
  }

  return {
    async run(attempt, work, answerFor) {
      const path = attempt.url.split('?', 1)[0];
      const id = hash('sha256', JSON.stringify([attempt.scope, attempt.method, path, attempt.key]));
      // Keyed: a body may hold a password, which a plain digest would let somebody guess.
      const fingerprint = createHmac('sha256', fingerprintKey)
        .update(`${attempt.method} ${attempt.url}\n`)
        .update(attempt.body)
        .digest('hex');
      const isAfterChecks = attempt.replay === 'afterChecks';
      if (!isAfterChecks && running.has(id)) {
        throw new AppError('conflict', 'The first request with this Idempotency-Key is still running.', {
          details: { retryAfterMs: 1000 },
        });
      }
      running.add(id);
      try {
        // The look-up in the transaction stays: another instance may run the same attempt.
        const earlier = attempt.replay === 'beforeWork' ? await findStored(id, fingerprint, database) : null;
        if (earlier !== null) {
          return { answer: earlier, isReplay: true };
        }
        const result = await work(remembering(id, fingerprint, answerFor));
        return { answer: answerFor(result), isReplay: false };
      } catch (error) {
        if (error instanceof Replay) {
          return { answer: error.answer, isReplay: true };
        }
        // The route's own refusals come first: they are thrown by the checks that a look-up would skip.
        if (isAfterChecks && error instanceof AppError) {
          throw error;
        }
        // Another instance may have been quicker with the same key: what we did was rolled back, its answer stands.
        const stored = await findStored(id, fingerprint, database);
        if (stored === null) {
          throw error;
        }
        return { answer: stored, isReplay: true };
      } finally {
        running.delete(id);
      }
    },
    async purge() {
      await database.run(
        deleteUnlocked('idempotent_answer', 'id', sql`expires_at <= ${timestamp(clock.now())}`),
      );
    },
  };
}

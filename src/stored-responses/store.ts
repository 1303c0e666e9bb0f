/**
 * Idempotency keys: a POST that is sent again with the same idempotency key returns the response to the first one, and
 * runs once. The response is stored in the transaction of the change, so a crash cannot separate the two.
 *
 * A stored response is encrypted (AES-256-GCM, key derived from CURD_SECRET) unless its route says that it contains
 * neither a secret, such as an API key, which is shown only once, nor data of a customer, who may be deleted before it
 * expires. Encrypting takes 8 to 11 us of CPU.
 */
import { createHmac, createSecretKey, hash, hkdfSync } from 'node:crypto';
import { type Clock, timestamp } from '../clock.ts';
import { type Database, NotNullError, type Sql, type Transaction } from '../database/database.ts';
import { purgeInSlices } from '../database/purge.ts';
import { AppError, validationError } from '../errors.ts';
import { createSealer } from '../sealing.ts';
import { idempotencyQueries, ownerLength } from './queries.ts';
import { isText, parseStored, requireStorable, type StoredResponse, storedText } from './stored-response.ts';

export const idempotencyHours = 24;
const lifetimeMs = idempotencyHours * 60 * 60 * 1000;

/**
 * When the stored response is looked up. Usually only when the response of the work is stored: a replay runs the work
 * again and rolls it back, because a lookup before each first request would cost more. `beforeWork` is for costly work.
 * `afterChecks` is for work whose checks must run even for a replay.
 */
export type ReplayTime = 'inTransaction' | 'beforeWork' | 'afterChecks';

export interface KeyedRequest {
  /** The principal or client IP: keys are separate for each. */
  readonly scope: string;
  readonly method: string;
  /** The URL with the query. */
  readonly url: string;
  readonly key: string;
  readonly requestId: string;
  readonly body: Uint8Array;
  readonly replay: ReplayTime;
  readonly isEncrypted: boolean;
}

/** A request that was sent with a key. */
export interface KnownRequest {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly requestId: string;
  readonly createdAt: string;
  /** null while the request runs. */
  readonly expiresAt: string | null;
  /** null while the request runs, and `sealed` if it is encrypted with another secret. */
  readonly response: StoredResponse | 'sealed' | null;
}

export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>;

type Work<T> = (transaction: Transaction) => Promise<T>;

/** A request that runs. Ids are hashes, so that they tell nothing about keys and callers. */
interface Running {
  readonly id: string;
  /** Digest of scope and key. */
  readonly owner: string;
  readonly method: string;
  readonly path: string;
  readonly requestId: string;
  readonly startedAt: number;
  readonly isEncrypted: boolean;
}

const idOf = (scope: string, method: string, path: string, key: string) =>
  hash('sha256', JSON.stringify([scope, method, path, key]));
/** Half of a hash is unique enough, and keeps the indexes small. */
const halfOfHash = (digest: string) => digest.slice(0, 32);
const ownerDigestOf = (scope: string, key: string) =>
  halfOfHash(hash('sha256', JSON.stringify([scope, key])));
/** The value of the column `request`. The responses of an owner are next to each other in its index. */
const rowKeyOf = (owner: string, id: string) =>
  owner.slice(0, ownerLength) + id.slice(0, halfOfHash(id).length - ownerLength);

/** @param secret at least 32 bytes, the same for all instances on a database */
export function createIdempotencyStore(database: Database, clock: Clock, secret: string) {
  const sealer = createSealer(clock, secret, 'idempotent responses');
  const fingerprintKey = createSecretKey(
    Buffer.from(hkdfSync('sha256', secret, '', 'idempotency fingerprints', 32)),
  );
  const running = new Map<string, Running>();

  /** The digest has a key: a body may contain a password, which could be guessed from a plain digest. */
  function fingerprintOf({ method, url, body }: KeyedRequest): string {
    return createHmac('sha256', fingerprintKey).update(`${method} ${url}\n`).update(body).digest('hex');
  }

  /** null if it was encrypted with another secret, when CURD_SECRET was changed. */
  function openStored(id: string, stored: string): StoredResponse | null {
    const text = isText(stored) ? stored : sealer.open(stored, id)?.toString('utf8');
    return text === undefined ? null : parseStored(text);
  }

  /** Looks up the response of an idempotent replay; null for a first request. */
  async function findStored(
    { id, owner }: Running,
    fingerprint: string,
    sql: Sql,
  ): Promise<StoredResponse | null> {
    const now = timestamp(clock.now());
    const row = await idempotencyQueries(sql).find(rowKeyOf(owner, id), now);
    if (row === undefined) {
      return null;
    }
    if (row.fingerprint !== fingerprint) {
      throw validationError([
        { field: '', message: 'this Idempotency-Key was used for another request: send a new one' },
      ]);
    }
    const response = openStored(id, row.response);
    if (response === null) {
      throw new Error('A stored response cannot be decrypted.');
    }
    return response;
  }

  /** The transaction fails if a response is stored already. */
  function store(tx: Sql, request: Running, fingerprint: string, response: StoredResponse) {
    const { id, owner, method, path, requestId, isEncrypted } = request;
    const now = clock.now();
    const text = storedText(response);
    const row = {
      request: rowKeyOf(owner, id),
      owner,
      fingerprint,
      method,
      path,
      request_id: requestId,
      response: isEncrypted ? sealer.seal(text, id) : text,
      created_at: timestamp(now),
      expires_at: timestamp(now + lifetimeMs),
    };
    return idempotencyQueries(tx).insert(row);
  }

  /** Runs the work, and stores the response to its change in the same transaction. Work without a change stores none. */
  async function runAndStore<T>(
    request: Running,
    fingerprint: string,
    work: Work<T>,
    toResponse: (result: T) => StoredResponse,
  ): Promise<StoredResponse> {
    let stored: { readonly changed: unknown; readonly response: StoredResponse } | undefined;
    const result = await work(async (change, groupOrder) => {
      try {
        return await database.transaction(async (tx) => {
          const changed = await change(tx);
          // It is the result of the work, which the types cannot say: checked below.
          const response = toResponse(changed as unknown as T);
          requireStorable(response);
          stored = { changed, response };
          await store(tx, request, fingerprint, response);
          return changed;
        }, groupOrder);
      } catch (error) {
        if (isStoredAlready(error)) {
          // Throws if the key was used for another request. The work must see that: a login counts it.
          await findStored(request, fingerprint, database);
        }
        throw error;
      }
    });
    if (stored !== undefined && result !== stored.changed) {
      throw new Error('A verb returned something else than its transaction, whose response is stored.');
    }
    return stored?.response ?? toResponse(result);
  }

  return {
    /**
     * Runs `work` once for each key. `work` makes its change in the transaction that it receives, which stores the
     * response too. Later requests with the key get the stored response, with `isReplay`.
     * @throws AppError conflict while the first request runs, validation if the key was used for another request
     */
    async run<T>(keyed: KeyedRequest, work: Work<T>, toResponse: (result: T) => StoredResponse) {
      const request = toRunning(keyed, clock.now());
      const { id } = request;
      const fingerprint = fingerprintOf(keyed);
      const isAfterChecks = keyed.replay === 'afterChecks';
      if (!isAfterChecks && running.has(id)) {
        throw stillRunning();
      }
      running.set(id, request);
      try {
        // Another instance may run the same request: the insert decides.
        const earlier =
          keyed.replay === 'beforeWork' ? await findStored(request, fingerprint, database) : null;
        if (earlier !== null) {
          return { response: earlier, isReplay: true };
        }
        return { response: await runAndStore(request, fingerprint, work, toResponse), isReplay: false };
      } catch (error) {
        // Errors of the route take precedence: the checks that throw them must run even for a replay.
        if (isAfterChecks && error instanceof AppError) {
          throw error;
        }
        // The change may be refused because the first request made it: its response counts.
        const stored = await findStored(request, fingerprint, database);
        if (stored === null) {
          // A response that was stored has expired since.
          throw isStoredAlready(error) ? stillRunning() : error;
        }
        return { response: stored, isReplay: true };
      } finally {
        running.delete(id);
      }
    },

    /** The newest requests of this scope with a key: those that run in this process, and stored ones. */
    async list(scope: string, key: string, limit: number) {
      const owner = ownerDigestOf(scope, key);
      // Read before the statement: a request that ends meanwhile is in one of the two lists.
      const current = [...running.values()].filter((request) => request.owner === owner);
      const rows = await idempotencyQueries(database).listOf(owner, timestamp(clock.now()), limit);
      const stored = rows.map((row): KnownRequest => {
        const { method, path, request_id, response, created_at, expires_at } = row;
        const id = idOf(scope, method, path, key);
        return {
          method,
          path,
          requestId: request_id,
          createdAt: created_at,
          expiresAt: expires_at,
          response: openStored(id, response) ?? 'sealed',
        };
      });
      const isStored = ({ method, path }: Running) =>
        stored.some((response) => response.method === method && response.path === path);
      const unfinished = current
        .filter((request) => !isStored(request))
        .map(({ method, path, requestId, startedAt }): KnownRequest => {
          return {
            method,
            path,
            requestId,
            createdAt: timestamp(startedAt),
            expiresAt: null,
            response: null,
          };
        });
      return [...unfinished.reverse(), ...stored].slice(0, limit);
    },

    /** Deletes expired responses. Returns whether some are left. Call it regularly. */
    purge: () =>
      purgeInSlices(database, (tx, limit) =>
        idempotencyQueries(tx).deleteExpired(timestamp(clock.now()), limit),
      ),
  };
}

function toRunning(
  { scope, method, url, key, requestId, isEncrypted }: KeyedRequest,
  startedAt: number,
): Running {
  const path = url.split('?', 1)[0] as string;
  const id = idOf(scope, method, path, key);
  return { id, owner: ownerDigestOf(scope, key), method, path, requestId, startedAt, isEncrypted };
}

/** The insert sets this column to null if a response is stored: see `idempotencyQueries`. */
function isStoredAlready(error: unknown): boolean {
  return error instanceof NotNullError && error.column === 'stored_response.expires_at';
}

function stillRunning(): AppError {
  return new AppError('conflict', 'The first request with this Idempotency-Key is still running.', {
    details: { retryAfterMs: 1000 },
  });
}

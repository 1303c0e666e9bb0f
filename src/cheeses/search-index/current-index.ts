/**
 * The index of this process: loaded once, brought to the present by each read and several times a second, and loaded again
 * if that is needed.
 */
import { batchCalls } from '../../database/batch-calls.ts';
import type { Database } from '../../database/database.ts';
import type { Loops } from '../../jobs/loops.ts';
import { RepeatedWork } from '../../jobs/repeated-work.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { CatalogueIndex } from './catalogue-index.ts';
import { follow, type IndexAt, loadIndex } from './index-loader.ts';

/**
 * Time between two looks at the catalogue, so that lists after an import do not wait for all of it. Ten thousand cheeses a
 * second are imported, and followed in a sixth of a second.
 */
const followedMs = 100;
/** Time between two looks while nothing changes. Each look is a statement. */
const idleMs = 500;

/** The index at a version of the catalogue. */
export interface IndexVersion {
  readonly index: CatalogueIndex;
  /** Version of the catalogue. */
  readonly version: number;
  /** Revision of the index. If it is another one now, the index has changed since. */
  readonly revision: number;
}

/** What a read returns: all of it is of one version of the catalogue. */
export interface CatalogueRead extends IndexVersion {
  /** Bodies by id: those of the cheeses that exist, and others. */
  readonly bodies: ReadonlyMap<number, string>;
}

export class CurrentIndex {
  readonly #database: Database;
  #loaded: IndexAt | null = null;
  #loading: Promise<IndexAt> | null = null;
  #last: IndexVersion | null = null;
  /** Stamp of the database at the last read, on SQLite. */
  #stamp: number | null = null;
  #isClosed = false;
  readonly #looks: RepeatedWork;
  /** Reads cheeses of the present. Calls that arrive while a statement runs share the next one. */
  readonly read: (ids: readonly number[]) => Promise<CatalogueRead>;

  constructor(database: Database, loops: Loops) {
    this.#database = database;
    this.read = batchCalls(async (requests: readonly (readonly number[])[]) => {
      const read = await this.#read([...new Set(requests.flat())]);
      return requests.map(() => read);
    });
    // Failures are not reported: /readyz says that the database does not respond.
    this.#looks = new RepeatedWork({
      loops,
      name: 'catalogue.index',
      everyMs: followedMs,
      run: () => this.#look(),
    });
  }

  /** Number of cheeses; 0 before the index is loaded. */
  get size(): number {
    return this.#loaded?.index.size ?? 0;
  }

  /** The index as it was last read, without the changes since. Null before the first read. */
  get last(): IndexVersion | null {
    return this.#last;
  }

  /** Loads the index if it is not loaded yet. */
  async load(): Promise<void> {
    await (this.#loaded ?? this.#load());
  }

  /** Follows the changes of all processes from now on. */
  start(): void {
    this.#looks.start();
  }

  /** The index of the present. On SQLite no statement is needed unless something was committed. */
  refresh(): MaybePromise<IndexVersion> {
    const isCurrent = this.#stamp !== null && this.#stamp === this.#database.dataVersion();
    return this.#last !== null && isCurrent ? this.#last : this.read([]);
  }

  /** Loads the index again, because it has cheeses that the database does not have. */
  async reload(): Promise<void> {
    this.#loaded = null;
    this.#last = null;
    await this.load();
  }

  /** Ends a load that runs, and follows no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#looks.stop();
    await this.#loading?.catch(() => {});
  }

  async #look(): Promise<void> {
    const before = this.#last;
    const isIdle = (await this.refresh()).revision === before?.revision;
    this.#looks.start(isIdle && this.#database.dataVersion() === null ? idleMs : followedMs);
  }

  #load(): Promise<IndexAt> {
    this.#loading ??= loadIndex(this.#database, () => !this.#isClosed)
      .then((loaded) => {
        this.#loaded = loaded;
        // The next read is from the new index, and the memory of the old one is free.
        this.#last = null;
        return loaded;
      })
      .finally(() => {
        this.#loading = null;
      });
    return this.#loading;
  }

  async #read(ids: readonly number[]): Promise<CatalogueRead> {
    let from = this.#loaded ?? (await this.#load());
    for (;;) {
      const stamp = this.#database.dataVersion();
      const followed = await follow(this.#database, from, ids);
      if (followed === null) {
        from = await this.#load();
      } else if (this.#loaded !== from) {
        // A smaller index has taken the place of this one meanwhile.
        from = this.#loaded ?? from;
      } else {
        const { index, place, bodies } = followed;
        this.#loaded = followed;
        this.#stamp = stamp;
        this.#last = { index, version: place.cheeses.version, revision: index.revision };
        this.#replaceWasteful(index);
        return { ...this.#last, bodies };
      }
    }
  }

  /** Loads a new index beside one with many dead slots. If that fails, a later read tries again. */
  #replaceWasteful(index: CatalogueIndex): void {
    if (index.isWasteful && !this.#isClosed) {
      this.#load().catch(() => {});
    }
  }
}

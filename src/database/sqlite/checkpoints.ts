/**
 * Checkpoints, which move what was committed from the write-ahead log to the database file. They wait for the disk, for
 * tens of milliseconds after 10,000 pages, so a thread makes them: neither reads nor changes wait for it.
 */
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

/** Time between two checkpoints at least. */
const intervalMs = 250;
/** A shorter log, such as that of most commands, needs no thread: 1,000 pages. */
const logBytesMin = 4 * 1024 * 1024;

export class Checkpoints {
  readonly #file: string;
  #thread: Worker | null = null;
  #nextAt = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Called after each commit. */
  afterCommit(): void {
    const now = performance.now();
    if (now < this.#nextAt) {
      return;
    }
    this.#nextAt = now + intervalMs;
    const { size = 0 } = statSync(`${this.#file}-wal`, { throwIfNoEntry: false }) ?? {};
    if (size >= logBytesMin) {
      this.#thread ??= this.#start();
      this.#thread.postMessage('checkpoint');
    }
  }

  async close(): Promise<void> {
    this.#nextAt = Number.POSITIVE_INFINITY;
    await this.#thread?.terminate();
  }

  #start(): Worker {
    const thread = new Worker(new URL('checkpoint-thread.ts', import.meta.url), {
      workerData: this.#file,
      execArgv: [],
    });
    // The connection that writes makes a checkpoint after 10,000 pages, if nothing else does.
    thread.on('error', () => {
      this.#thread = null;
    });
    thread.unref();
    return thread;
  }
}

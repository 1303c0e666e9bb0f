/**
 * Numbers the events of the log: from 1, without gaps, in one order for every reader.
 *
 * On SQLite the writing transaction assigns the numbers (record.ts), because there is one writer. On PostgreSQL events
 * are committed without a number, so that writers share no lock, and passes number them afterwards: the database
 * function number_events, whose migration explains why the order is right. Every instance runs passes; there is no
 * leader.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, timestamp } from '../clock.ts';
import type { Database, Sql } from '../database/database.ts';
import type { Loops } from '../jobs/loops.ts';
import { RepeatedWork } from '../jobs/repeated-work.ts';
import type { Log } from '../log.ts';
import { toBase62 } from '../random-text.ts';
import { eventLogQueries } from './log-queries.ts';
import { rewound } from './reading/positions.ts';

/** One pass. More would keep the lock of the log for longer than other instances should wait. */
const eventsOfAPassMax = 1000;
/** Time from a commit of this instance to its pass: commits in between share the pass. */
const delayMs = 20;
/** Time between passes for events of instances that died before their own. */
const tickMs = 1000;
/** Time between reads of the identity of the database. Shorter than a tick, so that each tick reads it. */
const identityMs = 900;
/** A pass that ignores the floor: an error in the rule of the floor then delays an event by a minute and loses none. */
const ignoreFloorMs = 60_000;
const epochNameLength = 4;
/** Part of the ids of events that are not in the log. */
const reservedEpochName = 'test';

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Log, 'error'>;
  readonly loops: Loops;
  /** Set by tests alone: see `ignoreFloorMs`. */
  readonly floorMs?: number;
}

/** The numbering of a process; on SQLite it only finishes what a copy from PostgreSQL left without a number. */
export class Numbering {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #floorMs: number;
  readonly #work: RepeatedWork;
  #numbered = 0;
  #delay: NodeJS.Timeout | undefined;
  #stopListening = () => {};
  #floorIgnoredAt = Number.NEGATIVE_INFINITY;
  #identityReadAt = Number.NEGATIVE_INFINITY;
  /** SQLite: the last number before the start. */
  #startedAfter = 0;

  constructor({ database, clock, log, loops, floorMs = ignoreFloorMs }: Dependencies) {
    this.#database = database;
    this.#clock = clock;
    this.#floorMs = floorMs;
    this.#work = new RepeatedWork({
      loops,
      name: 'event.numbering',
      everyMs: tickMs,
      run: (isStopped) => (database.numbersEventsAtWrite ? this.#numberRest() : this.#passes(isStopped)),
      onError: (error) =>
        log.error({ err: error }, 'events could not be numbered; the next pass tries again'),
    });
  }

  /** Starts to number events: now, after commits of this process, and once a second. */
  async start(): Promise<void> {
    const { numbersEventsAtWrite } = this.#database;
    this.#startedAfter = numbersEventsAtWrite ? await this.#lastNumber() : 0;
    await this.run();
    if (!numbersEventsAtWrite) {
      this.#stopListening = this.#database.onCommit(() => this.#schedule());
      this.#work.start();
    }
  }

  /** Ends after the pass that runs. */
  async stop(): Promise<void> {
    this.#stopListening();
    clearTimeout(this.#delay);
    await this.#work.stop();
  }

  /** Numbers all events that are committed now. */
  run(): Promise<void> {
    return this.#work.run();
  }

  /** Events that this process has numbered since its start; on SQLite those that any process has recorded since then. */
  async numbered(): Promise<number> {
    return this.#database.numbersEventsAtWrite
      ? (await this.#lastNumber()) - this.#startedAfter
      : this.#numbered;
  }

  /** Age of the oldest event without a number. */
  async lagSeconds(): Promise<number> {
    const row = await eventLogQueries(this.#database).findOldestUnnumbered();
    return row === undefined ? 0 : Math.max(0, this.#clock.now() - Date.parse(row.created_at)) / 1000;
  }

  async #lastNumber(): Promise<number> {
    return (await eventLogQueries(this.#database).findLog())?.last ?? 0;
  }

  #schedule(): void {
    this.#delay ??= setTimeout(() => {
      this.#delay = undefined;
      this.#work.wake();
    }, delayMs).unref();
  }

  async #passes(isStopped: () => boolean): Promise<void> {
    const now = performance.now();
    if (now - this.#identityReadAt >= identityMs) {
      await this.#adoptNewIdentity();
      this.#identityReadAt = now;
    }
    while (!isStopped()) {
      const before = this.#numbered;
      if (!(await this.#pass())) {
        return;
      }
      if (this.#numbered - before < eventsOfAPassMax) {
        // Another pass ran within the last 10 ms, or is running.
        await sleep(delayMs + ((this.#clock.random(1)[0] ?? 0) / 256) * delayMs);
      }
    }
  }

  async #pass(): Promise<boolean> {
    const ignoreFloor = performance.now() - this.#floorIgnoredAt >= this.#floorMs;
    const result = await eventLogQueries(this.#database).numberEvents(eventsOfAPassMax, ignoreFloor);
    if (result === undefined) {
      return false;
    }
    if (result.is_new_identity) {
      await this.#adoptIdentity();
      return true;
    }
    if (ignoreFloor) {
      this.#floorIgnoredAt = performance.now();
    }
    this.#numbered += result.numbered;
    return result.call_again;
  }

  /** The database was restored, copied or promoted: begins an epoch before anything is numbered in it. */
  async #adoptIdentity(): Promise<void> {
    await this.#database.transaction(async (tx) => {
      const { identity = '' } = (await eventLogQueries(tx).findIdentity()) ?? {};
      const row = await eventLogQueries(tx).lockLogForUpdate();
      if (row !== undefined && row.identity !== identity) {
        await beginEpoch(tx, this.#clock, 'restored');
        await eventLogQueries(tx).updateIdentity(identity);
      }
    });
  }

  /**
   * A pass looks at the identity only when it has events to number. After a failover without later changes, positions
   * that the new primary lacks must be known as lost too.
   */
  async #adoptNewIdentity(): Promise<void> {
    const queries = eventLogQueries(this.#database);
    const [log, found] = await Promise.all([queries.findLog(), queries.findIdentity()]);
    if (log?.identity !== found?.identity) {
      await this.#adoptIdentity();
    }
  }

  /** SQLite: events that a copy from PostgreSQL brought without a number. */
  async #numberRest(): Promise<void> {
    this.#numbered += await this.#database.transaction(numberWaiting);
  }
}

/** Numbers all events without a number, in a transaction that no other pass runs beside. Returns how many there were. */
async function numberWaiting(tx: Sql): Promise<number> {
  const queries = eventLogQueries(tx);
  for (let numbered = 0; ; ) {
    const rows = await queries.listUnnumbered(eventsOfAPassMax);
    if (rows.length === 0) {
      return numbered;
    }
    const { last = 0 } = (await queries.countUp(rows.length)) ?? {};
    for (const [index, { id }] of rows.entries()) {
      await queries.updateSequence(id, last - rows.length + index + 1);
    }
    numbered += rows.length;
  }
}

type EpochCause = 'created' | 'restored' | 'copied' | 'reset' | typeof rewound;

/** Begins an epoch at the next number, in a transaction that holds the lock of the log on PostgreSQL. */
async function beginEpoch(tx: Sql, clock: Clock, cause: EpochCause): Promise<void> {
  const queries = eventLogQueries(tx);
  const epochs = await queries.listEpochs();
  const known = new Set(epochs.map(({ name }) => name));
  let name = reservedEpochName;
  while (name === reservedEpochName || known.has(name)) {
    name = toBase62(clock.random(epochNameLength));
  }
  const { last = 0 } = (await queries.findLog()) ?? {};
  // Epochs without an event between them are in the order of their times, also if the clock was set back.
  const latest = Math.max(0, ...epochs.map(({ began_at }) => Date.parse(began_at)));
  const beganAt = timestamp(Math.max(clock.now(), latest + 1));
  await queries.insertEpoch({ name, first_sequence: last + 1, cause, began_at: beganAt });
}

/** Begins the epoch of a new shop, whose events may all be those of commands. Later starts read one row. */
export async function beginFirstEpoch(database: Database, clock: Clock): Promise<void> {
  const hasEpoch = async (tx: Sql) => (await eventLogQueries(tx).findAnyEpoch()) !== undefined;
  if (await hasEpoch(database)) {
    return;
  }
  await database.transaction(async (tx) => {
    const queries = eventLogQueries(tx);
    await queries.lockLogForUpdate();
    if (!(await hasEpoch(tx))) {
      await beginEpoch(tx, clock, 'created');
      await storeIdentity(tx);
    }
  });
}

/**
 * Begins an epoch in a database that was copied or restored: its log continues from an earlier state, so numbers that
 * readers know can be given a second time.
 */
export async function beginForeignEpoch(tx: Sql, clock: Clock, cause: 'copied' | 'restored'): Promise<void> {
  await eventLogQueries(tx).lockLogForUpdate();
  await beginEpoch(tx, clock, cause);
  await storeIdentity(tx);
}

/** Passes number nothing in a database with another identity. */
async function storeIdentity(tx: Sql): Promise<void> {
  if (!tx.numbersEventsAtWrite) {
    const queries = eventLogQueries(tx);
    const { identity = '' } = (await queries.findIdentity()) ?? {};
    await queries.updateIdentity(identity);
  }
}

/** Called in the transaction that deletes all events: the log begins after the last one. */
export async function emptyLog(tx: Sql, clock: Clock): Promise<void> {
  await eventLogQueries(tx).updateFirst();
  await beginEpoch(tx, clock, 'reset');
}

/**
 * Called in the transaction that restores events of an earlier time: the log begins after the last one, and has none of
 * them. The events stay as the history of orders and cheeses. One that waited for its number when the snapshot was made
 * gets it here: a later pass would make it the first event of the log, and look for it above its floor alone.
 */
export async function rewindLog(tx: Sql, clock: Clock): Promise<void> {
  await numberWaiting(tx);
  await eventLogQueries(tx).updateFirst();
  await beginEpoch(tx, clock, rewound);
}

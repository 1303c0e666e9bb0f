/** Statements on the event log: its one row, its epochs, and the numbers of events. */
import { queriesOn } from '../database/database.ts';
import { forUpdate, sql, valueList } from '../database/sql.ts';

export interface EventLogRow {
  readonly last: number;
  /** The lowest number that the log still has. */
  readonly first: number;
  readonly identity: string;
}

export interface EpochRow {
  readonly name: string;
  readonly first_sequence: number;
  readonly cause: string;
  readonly began_at: string;
}

/** An event without its data. */
export interface EventHeadRow {
  readonly sequence: number;
  readonly type: string;
  readonly subject: string;
  /** Size of the event's data. */
  readonly bytes: number;
}

/** Numbers that no event has, both ends included. */
export interface GapRow {
  readonly from: number;
  readonly until: number;
}

/** An event with its time, without its data. */
export interface TimedHeadRow {
  readonly id: number;
  readonly sequence: number;
  readonly type: string;
  readonly subject: string;
  readonly created_at: string;
}

export interface LogEventRow {
  readonly sequence: number;
  readonly type: string;
  readonly subject: string;
  readonly actor: string;
  readonly request_id: string | null;
  readonly trace_id: string | null;
  readonly data: string;
  readonly created_at: string;
}

const eventColumns = sql`sequence, type, subject, actor, request_id, trace_id, data, created_at`;

interface PassRow {
  readonly numbered: number;
  readonly call_again: boolean;
  readonly is_new_identity: boolean;
}

export const eventLogQueries = queriesOn((tx) => ({
  findLog: () => tx.get<EventLogRow>(sql`select last, first, identity from event_log where id = 1`),

  lockLogForUpdate: () =>
    tx.get<EventLogRow>(sql`select last, first, identity from event_log where id = 1${forUpdate}`),

  /** SQLite alone, where the writing transaction assigns the numbers. Returns the last of them. */
  countUp: (events: number) =>
    tx.get<{ last: number }>(sql`update event_log set last = last + ${events} where id = 1 returning last`),

  /** PostgreSQL alone: see the migration that creates the function. */
  numberEvents: (eventsMax: number, ignoreFloor: boolean) =>
    tx.get<PassRow>(sql`
      select numbered, call_again, is_new_identity
      from number_events(${eventsMax}::integer, ${ignoreFloor ? 1 : 0}::integer = 1)`),

  /** Events of one request that have a number, in order, without their data. */
  listOfRequest: (requestId: string, actor: string, limit: number) =>
    tx.all<Pick<EventHeadRow, 'sequence' | 'type'>>(sql`
      select sequence, type from event
      where request_id = ${requestId} and actor = ${actor} and sequence > 0 order by id limit ${limit}`),

  /** PostgreSQL alone. */
  notify: (channel: string) => tx.get(sql`select pg_notify(${channel}, '')`),

  findIdentity: () => tx.get<{ identity: string }>(sql`select database_identity() as identity`),

  /** A mark of an earlier epoch may have a transaction id that this database reaches in years. */
  updateIdentity: (identity: string) =>
    tx.run(
      sql`update event_log set identity = ${identity}, mark_xid = 0, mark_id = 0, passed_ms = 0 where id = 1`,
    ),

  /** Moves the beginning of the log behind its last event. */
  updateFirst: () => tx.run(sql`update event_log set first = last + 1 where id = 1`),

  /** Moves the beginning of the log, unless another instance has moved it. */
  moveFirst: (from: number, to: number) =>
    tx.run(sql`update event_log set first = ${to} where id = 1 and first = ${from}`),

  insertEpoch: (epoch: EpochRow) =>
    tx.run(sql`
      insert into event_epoch (name, first_sequence, cause, began_at)
      values (${epoch.name}, ${epoch.first_sequence}, ${epoch.cause}, ${epoch.began_at})`),

  findAnyEpoch: () => tx.get<{ name: string }>(sql`select name from event_epoch limit 1`),

  listEpochs: () =>
    tx.all<EpochRow>(sql`
      select name, first_sequence, cause, began_at from event_epoch order by first_sequence, began_at, name`),

  /** SQLite alone: events that came from PostgreSQL before they were numbered. */
  listUnnumbered: (max: number) =>
    tx.all<{ id: number }>(sql`select id from event where sequence is null order by id limit ${max}`),

  findOldestUnnumbered: () =>
    tx.get<{ created_at: string }>(
      sql`select created_at from event where sequence is null order by id limit 1`,
    ),

  countUnnumbered: () =>
    tx.get<{ count: number }>(sql`select count(*) as count from event where sequence is null`),

  updateSequence: (id: number, sequence: number) =>
    tx.run(sql`update event set sequence = ${sequence} where id = ${id}`),

  countNumbered: (first: number, last: number) =>
    tx.get<{ numbered: number }>(sql`
      select count(*) as numbered from event where sequence >= ${first} and sequence <= ${last} and sequence > 0`),

  findLowest: (first: number) =>
    tx.get<{ lowest: number | null }>(
      sql`select min(sequence) as lowest from event where sequence >= ${first} and sequence > 0`,
    ),

  findHighest: () =>
    tx.get<{ highest: number | null }>(sql`select max(sequence) as highest from event where sequence > 0`),

  /** Those after the lowest number. */
  listGaps: (first: number, last: number, max: number) =>
    tx.all<GapRow>(sql`
      select e.sequence + 1 as "from", coalesce(
        (select min(n.sequence) - 1 from event n where n.sequence > e.sequence and n.sequence > 0 and n.sequence <= ${last}),
        ${last}) as until
      from event e
      where e.sequence >= ${first} and e.sequence < ${last} and e.sequence > 0
        and not exists (select 1 from event n where n.sequence = e.sequence + 1 and n.sequence > 0)
      order by e.sequence limit ${max}`),

  listNumbers: (from: number, until: number) =>
    tx.all<{ sequence: number }>(sql`
      select sequence from event where sequence >= ${from} and sequence <= ${until} and sequence > 0`),

  /** The newest event before a number, or the oldest one after it. */
  findNeighbor: (sequence: number) =>
    tx.get<{ created_at: string }>(sql`
      select created_at from event where sequence = coalesce(
        (select max(sequence) from event where sequence < ${sequence} and sequence > 0),
        (select min(sequence) from event where sequence > ${sequence} and sequence > 0))`),

  /** Events after a number, in order. Their data is not read. `sequence > 0` lets SQLite use the partial index. */
  listHeads: (after: number, limit: number) =>
    tx.all<EventHeadRow>(sql`
      select sequence, type, subject, octet_length(data) as bytes
      from event where sequence > ${after} and sequence > 0 order by sequence limit ${limit}`),

  /** Works like `listHeads`, with times. Orders and cheeses also have those that the retention has removed from the log. */
  listTimedHeads: (after: number, limit: number) =>
    tx.all<TimedHeadRow>(sql`
      select id, sequence, type, subject, created_at
      from event where sequence > ${after} and sequence > 0 order by sequence limit ${limit}`),

  /** Stored events of some types up to a number, by id, also those that the log no longer has. */
  listHistory: (after: number, until: number, sequence: number, types: readonly string[]) =>
    tx.all<TimedHeadRow>(sql`
      select id, sequence, type, subject, created_at from event
      where id > ${after} and id <= ${until} and sequence <= ${sequence} and type in (${valueList(types)}) order by id`),

  findLastId: () => tx.get<{ id: number | null }>(sql`select max(id) as id from event`),

  /** Stored events after an id by type, of one actor, also those that have no number. */
  countOfActor: (afterId: number, actor: string, types: readonly string[]) =>
    tx.all<{ type: string; events: number }>(sql`
      select type, count(*) as events from event
      where id > ${afterId} and actor = ${actor} and type in (${valueList(types)}) group by type`),

  /** Times of the events from a number on, up to one before another. */
  listTimes: (from: number, end: number) =>
    tx.all<{ created_at: string }>(sql`
      select created_at from event where sequence >= ${from} and sequence < ${end} and sequence > 0 order by sequence`),

  /** Deletes those that are needed nowhere but in the log. */
  deleteEvents: (from: number, end: number) =>
    tx.run(sql`
      delete from event where sequence >= ${from} and sequence < ${end} and sequence > 0
        and type not like 'order.%' and type not like 'cheese.%'`),

  listEvents: (sequences: readonly number[]) =>
    tx.all<LogEventRow>(sql`
      select ${eventColumns} from event where sequence in (${valueList(sequences)}) and sequence > 0 order by sequence`),

  findEvent: (sequence: number) =>
    tx.get<LogEventRow>(sql`select ${eventColumns} from event where sequence = ${sequence} and sequence > 0`),

  /** The first event from a number on that is as new as a time. */
  findFirstSince: (from: number, at: string) =>
    tx.get<{ sequence: number }>(sql`
      select sequence from event where sequence >= ${from} and sequence > 0 and created_at >= ${at} order by sequence limit 1`),
}));

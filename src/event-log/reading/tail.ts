/** The newest events in memory: each is read from the database, and made JSON, once for all readers. */
import type { Database } from '../../database/database.ts';
import type { EpochRow } from '../log-queries.ts';
import { type EventItem, readEvents, readHeads, readLogState, toItem } from './log-reader.ts';

const eventsMax = 1000;
/** Data of these events. */
const bytesMax = 4 * 1024 * 1024;

interface TailEvent extends EventItem {
  readonly bytes: number;
}

/** What the tail has after a number. */
export interface TailPart {
  readonly events: readonly EventItem[];
  readonly epochs: readonly EpochRow[];
}

export type EventTail = ReturnType<typeof createEventTail>;

export function createEventTail(database: Database) {
  let events: TailEvent[] = [];
  let bytes = 0;
  let epochs: readonly EpochRow[] = [];
  /** The log as it was read; null before. */
  let last: number | null = null;
  /** Stamp of the database at the last read, on SQLite. */
  let stamp: number | null = null;

  function reset(to: number): void {
    events = [];
    bytes = 0;
    last = to;
  }

  function trim(): void {
    let dropped = 0;
    while (events.length - dropped > eventsMax || bytes > bytesMax) {
      bytes -= events[dropped]?.bytes ?? 0;
      dropped += 1;
    }
    events.splice(0, dropped);
  }

  async function append(from: number, to: number): Promise<void> {
    const heads = await readHeads(database, from, to - from);
    if (heads.reduce((sum, head) => sum + head.bytes, 0) > bytesMax) {
      reset(to);
      return;
    }
    const rows = await readEvents(
      database,
      heads.map(({ sequence }) => sequence),
    );
    for (const { sequence, bytes: size } of heads) {
      const row = rows.get(sequence);
      if (row === undefined) {
        reset(to);
        return;
      }
      events.push({ ...toItem(row, epochs), bytes: size });
      bytes += size;
      last = sequence;
    }
    trim();
  }

  return {
    /** Forgets all events. */
    clear() {
      events = [];
      bytes = 0;
      last = null;
    },

    /** Reads the events that are new. Returns the last number of the log. */
    async refresh(): Promise<number> {
      const now = database.dataVersion();
      if (last !== null && now !== null && now === stamp) {
        return last;
      }
      const state = await readLogState(database);
      const isOtherHistory = state.epochs.at(-1)?.name !== epochs.at(-1)?.name;
      epochs = state.epochs;
      if (last === null || isOtherHistory || state.last < last || state.last - last > eventsMax) {
        reset(state.last);
      } else if (state.last > last) {
        await append(last, state.last);
      }
      stamp = now;
      return state.last;
    },

    /** The events after a number; null if they are not all in memory. */
    after(sequence: number): TailPart | null {
      if (last === null || sequence > last) {
        return null;
      }
      const missing = last - sequence;
      return missing > events.length ? null : { events: events.slice(events.length - missing), epochs };
    },
  };
}

/**
 * Positions in the event log: an event id, a time, `earliest` or `latest`. A position stands for all events after it.
 * An event id is `evt_<epoch>_<sequence>`: the epoch says in which history of the log the number was given.
 */
import { parseTime, timestamp } from '../../clock.ts';
import { AppError, parameterError } from '../../errors.ts';
import type { EpochRow, EventLogRow } from '../log-queries.ts';

export type LogPosition =
  | { readonly kind: 'id'; readonly epoch: string; readonly sequence: number }
  | { readonly kind: 'time'; readonly at: string }
  | { readonly kind: 'earliest' | 'latest' };

/** The state of the log by which positions are understood. Epochs are in the order of their first numbers. */
export interface LogState extends Pick<EventLogRow, 'last' | 'first'> {
  readonly epochs: readonly EpochRow[];
}

const idPattern = /^evt_([0-9A-Za-z]{4})_(0|[1-9][0-9]{0,15})$/;

/** The cause of an epoch before which no position is valid, although its number is not beyond the log. */
export const rewound = 'rewound';

/** The parts of an event id; undefined if the text is none. */
export function parseEventId(
  text: string,
): { readonly epoch: string; readonly sequence: number } | undefined {
  const [, epoch, sequence] = idPattern.exec(text) ?? [];
  return epoch === undefined ? undefined : { epoch, sequence: Number(sequence) };
}

/** @throws AppError badRequest */
export function parsePosition(text: string, name: string): LogPosition {
  if (text === 'earliest' || text === 'latest') {
    return { kind: text };
  }
  const id = parseEventId(text);
  if (id !== undefined) {
    return { kind: 'id', ...id };
  }
  const milliseconds = parseTime(text);
  if (Number.isNaN(milliseconds)) {
    throw parameterError(
      name,
      'send an event id, an RFC 3339 time such as 2026-01-15T09:30:00Z, "earliest" or "latest". "next" of an earlier response is one.',
    );
  }
  return { kind: 'time', at: timestamp(milliseconds) };
}

/** The epoch in which a number was given; for 0 the first one. */
function epochOf(sequence: number, epochs: readonly EpochRow[]): string {
  const epoch = epochs.findLast(({ first_sequence }) => first_sequence <= sequence) ?? epochs[0];
  return epoch?.name ?? '';
}

/** The id of an event, which is also the position after it. */
export function positionAt(sequence: number, epochs: readonly EpochRow[]): string {
  return `evt_${epochOf(sequence, epochs)}_${sequence}`;
}

/**
 * The number after which the events of an id come.
 * @throws AppError badRequest for a number that was not given yet, logRewound, eventsExpired
 */
export function toSequence(
  id: { readonly epoch: string; readonly sequence: number },
  state: LogState,
): number {
  const index = state.epochs.findIndex(({ name }) => name === id.epoch);
  const later = state.epochs.slice(index + 1);
  const isBeyond = id.sequence >= (later[0]?.first_sequence ?? Number.POSITIVE_INFINITY);
  if (index === -1 || isBeyond || later.some(({ cause }) => cause === rewound)) {
    throw new AppError(
      'logRewound',
      `The log was restored from an earlier state, and this position is not in it. ${resynchronize}`,
    );
  }
  if (id.sequence > state.last) {
    throw parameterError('since', 'the log has no event with this number yet.');
  }
  if (id.sequence < state.first - 1) {
    throw expired(state);
  }
  return id.sequence;
}

/** The refusal of what lies before the beginning of the log. */
export function expired({ first, epochs }: LogState): AppError {
  return new AppError(
    'eventsExpired',
    `Events this old have been removed. The oldest one is ${positionAt(first, epochs)}. ${resynchronize}`,
    { details: { firstUrl: '/v2/events?since=earliest' } },
  );
}

const resynchronize =
  'To start again: take "next" of since=latest, list all cheeses and orders, then continue from that "next".';

/** Pages of events: which events match a filter, and how many fit. */
import type { EpochRow } from '../log-queries.ts';
import type { EventItem } from './log-reader.ts';
import { positionAt } from './positions.ts';

/** Which events a reader wants, and may see. */
export interface EventFilter {
  /** Types, or `cheese.*`; null for all. */
  readonly types: readonly string[] | null;
  readonly subject: string | null;
  /** `admin` alone sees events of API keys, accounts, OAuth clients, approvals and webhook endpoints. */
  readonly isAdmin: boolean;
}

export interface EventPage {
  readonly items: readonly EventItem[];
  /** The number of the last event that was examined. */
  readonly nextSequence: number;
  /** The position after it. */
  readonly next: string;
  /** The newest epoch. */
  readonly epoch: string;
  readonly hasMore: boolean;
}

export type EventMatcher = (type: string, subject: string) => boolean;

export const adminTypes = /^(api_key|account|oauth_client|approval|webhook_endpoint)\./;

/** Collects a page of events that come one after the other. */
export function pageAfter(after: number, filter: EventFilter, limit: number, bytesMax: number) {
  const matches = createMatcher(filter);
  const sequences: number[] = [];
  let bytes = 0;
  let nextSequence = after;
  return {
    sequences,
    nextSequence: () => nextSequence,
    /** @returns false if the page is full */
    add(sequence: number, type: string, subject: string, size: number): boolean {
      if (matches(type, subject)) {
        if (sequences.length === limit || (sequences.length > 0 && bytes + size > bytesMax)) {
          return false;
        }
        sequences.push(sequence);
        bytes += size;
      }
      nextSequence = sequence;
      return true;
    },
  };
}

/** The end of a page: its number and position, and the newest epoch. */
export function toPageEnd(nextSequence: number, epochs: readonly EpochRow[]) {
  return { nextSequence, next: positionAt(nextSequence, epochs), epoch: epochs.at(-1)?.name ?? '' };
}

/** Whether an event of a type and subject passes a filter. */
export function createMatcher({ types, subject, isAdmin }: EventFilter): EventMatcher {
  const names = new Set(types ?? []);
  const prefixes = (types ?? []).filter((type) => type.endsWith('.*')).map((type) => type.slice(0, -1));
  return (type, of) =>
    (subject === null || of === subject) &&
    (types === null || names.has(type) || prefixes.some((prefix) => type.startsWith(prefix))) &&
    (isAdmin || !adminTypes.test(type));
}

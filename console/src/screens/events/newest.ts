/** The newest events of the log, which the API lists from the oldest on. */
import { type Curd, type CurdEvent, isCurdError } from '../../../../client/src/index.ts';

export interface Filters {
  readonly types: readonly string[];
  /** `order:31`; empty for all. */
  readonly subject: string;
}

/** The parameters of the list. An empty filter is left out. */
export function toQuery({ types, subject }: Filters) {
  return {
    types: types.length === 0 ? undefined : [...types],
    subject: subject === '' ? undefined : subject,
  };
}

/** More events than this are not searched for a filter that matches few. */
const examinedMax = 20_000;

export interface Newest {
  /** The newest first. */
  readonly events: readonly CurdEvent[];
  /** Whether there may be older ones. */
  readonly hasMore: boolean;
}

/**
 * Reads backwards in windows of positions, which grow while nothing matches. An event id ends with the number of the
 * event, and each is a position.
 */
export async function readNewest(
  curd: Curd,
  filters: Filters,
  count: number,
  signal: AbortSignal,
): Promise<Newest> {
  const { next } = await curd.events.list({ since: 'latest', limit: 1 }, { signal });
  const epoch = next.slice(0, next.lastIndexOf('_') + 1);
  const last = Number(next.slice(epoch.length));
  let events: CurdEvent[] = [];
  let size = 100;
  let end = last;
  while (end > 0 && events.length < count && last - end < examinedMax) {
    const begin = Math.max(0, end - size);
    const found = await readWindow(curd, filters, { since: `${epoch}${begin}`, begin, end }, signal);
    events = [...found.events, ...events];
    if (found.isOldest) {
      end = 0;
      break;
    }
    end = begin;
    size = Math.min(5000, size * 4);
  }
  return { events: events.slice(-count).reverse(), hasMore: end > 0 || events.length > count };
}

interface Window {
  readonly since: string;
  readonly begin: number;
  readonly end: number;
}

async function readWindow(
  curd: Curd,
  filters: Filters,
  { since, begin, end }: Window,
  signal: AbortSignal,
): Promise<{ readonly events: CurdEvent[]; readonly isOldest: boolean }> {
  try {
    const events = await readUntil(
      curd,
      { ...filters, since: begin === 0 ? 'earliest' : since },
      end,
      signal,
    );
    return { events, isOldest: begin === 0 };
  } catch (error) {
    if (!isCurdError(error, 'events_expired')) {
      throw error;
    }
    return {
      events: await readUntil(curd, { ...filters, since: 'earliest' }, end, signal),
      isOldest: true,
    };
  }
}

/** @param end the number of the last event that is wanted */
async function readUntil(
  curd: Curd,
  { since, ...filters }: Filters & { readonly since: string },
  end: number,
  signal: AbortSignal,
): Promise<CurdEvent[]> {
  const events: CurdEvent[] = [];
  let position = since;
  for (;;) {
    const page = await curd.events.list({ ...toQuery(filters), since: position, limit: 100 }, { signal });
    events.push(...page.items.filter(({ sequence }) => sequence <= end));
    const examined = Number(page.next.slice(page.next.lastIndexOf('_') + 1));
    if (!page.hasMore || examined >= end) {
      return events;
    }
    position = page.next;
  }
}

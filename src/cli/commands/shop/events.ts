import { eventTypes } from '../../../app/event-types.ts';
import type { EventFilter } from '../../../event-log/reading/event-filter.ts';
import { requireKnownTypes } from '../../../webhooks/endpoint.ts';
import type { listEventsOptions, tailEventsOptions } from '../../framework/event-options.ts';
import type { CommandOptions, OptionsOf } from '../../framework/options.ts';
import { withShop } from '../../framework/run-command.ts';

/** Events of one read. */
const pageItems = 100;
const waitMs = 30_000;

export function printLoggedEvents(options: OptionsOf<typeof listEventsOptions>): Promise<void> {
  return withShop(options, async ({ events: { service: events } }) => {
    const filter = filterOf(options.types);
    if (options.since === undefined) {
      printEvents(options, await events.listNewest(filter, options.limit));
      return;
    }
    let after = await events.resolve(options.since);
    for (let left = options.limit; left > 0; ) {
      const page = await events.list(after, filter, Math.min(left, pageItems));
      printEvents(
        options,
        page.items.map(({ text }) => text),
      );
      left -= page.items.length;
      after = page.nextSequence;
      if (!page.hasMore) {
        return;
      }
    }
  });
}

/** Prints new events until SIGINT or SIGTERM. */
export function tailEvents(options: OptionsOf<typeof tailEventsOptions>): Promise<void> {
  return withShop(options, async ({ events: { service: events, hub } }) => {
    const filter = filterOf(options.types);
    const stopping = new AbortController();
    const stop = () => stopping.abort();
    process.once('SIGINT', stop).once('SIGTERM', stop);
    // The program that reads the output has ended.
    process.stdout.once('error', stop);
    let after = await events.resolve('latest');
    while (!stopping.signal.aborted) {
      const page = await events.waitForEvents(after, filter, pageItems, waitMs, stopping.signal);
      printEvents(
        options,
        page.items.map(({ text }) => text),
      );
      after = page.nextSequence;
    }
    await hub.stop();
  });
}

function filterOf(types: readonly string[] | undefined): EventFilter {
  requireKnownTypes(eventTypes, types ?? null);
  return { types: types ?? null, subject: null, isAdmin: true };
}

function printEvents({ json }: CommandOptions, items: readonly string[]): void {
  for (const item of items) {
    process.stdout.write(`${json ? item : toLine(item)}\n`);
  }
}

function toLine(item: string): string {
  const { timestamp, id, type, subject, actor, data } = JSON.parse(item);
  return [timestamp, id, type, subject, actor, JSON.stringify(data)].join(' ');
}

import { type StreamOptions, streamEvents } from '../events.ts';
import type { CallOptions } from '../options.ts';
import type { ListOf } from '../pages.ts';
import type { CurdEvent, Query } from '../types.ts';
import { Area } from './area.ts';

/** The event log. */
export class Events extends Area {
  /** Lists events, the oldest first. With `wait`, a request at the end of the log waits for the next event. */
  list(filters?: Query<'listEvents'>, options?: CallOptions): ListOf<'listEvents'> {
    return this.api.list('/v2/events', { query: filters }, options);
  }

  /** Returns an event. */
  get(eventId: string, options?: CallOptions): Promise<CurdEvent> {
    return this.api.get('/v2/events/{eventId}', { path: { eventId } }, options);
  }

  /** Lists the names of actors and subjects: `{ of: ['key:2', 'customer:5'] }`. What does not exist is left out. */
  listNames(query: Query<'listNames'>, options?: CallOptions): ListOf<'listNames'> {
    return this.api.listAll('/v2/names', { query }, options);
  }

  /** All events from `since` on, without an end. Reconnects by itself, and misses no event. */
  stream(options: StreamOptions = {}): AsyncGenerator<CurdEvent, never, undefined> {
    return streamEvents(this.api, options);
  }
}

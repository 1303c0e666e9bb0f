import { type StreamOptions, streamEvents } from '../events.ts';
import type { CurdEvent } from '../types.ts';
import { GeneratedEvents } from './generated.ts';

/** The event log. */
export class Events extends GeneratedEvents {
  /** All events from `since` on, without an end. Reconnects by itself, and misses no event. */
  stream(options: StreamOptions = {}): AsyncGenerator<CurdEvent, never, undefined> {
    return streamEvents(this.api, options);
  }
}

/** Opens the event log: numbering, readers, streams. */
import { checkEventLog } from '../event-log/consistency-check.ts';
import type { EventTypes } from '../event-log/event-types.ts';
import { Numbering } from '../event-log/numbering.ts';
import { EventHub } from '../event-log/reading/hub.ts';
import { createEventService } from '../event-log/reading/service.ts';
import { removeExpiredEvents } from '../event-log/retention.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { counter, gauge } from '../http/metrics/metrics.ts';
import { createEventComponents } from './event-components.ts';
import { createLiveConnections } from './live-connections.ts';
import { eventRoutes } from './routes.ts';
import { type StreamTimes, streamTimes } from './stream.ts';

interface Dependencies extends AreaDependencies {
  readonly eventTypes: EventTypes;
  readonly streamTimes?: StreamTimes | undefined;
}

/** The caller starts the numbering before the first request, and stops it after the last change. */
export function openEvents(dependencies: Dependencies) {
  const { database, clock, log, loops, config, eventTypes, streamTimes: times = streamTimes } = dependencies;
  const hub = new EventHub(database, log, loops);
  const service = createEventService(database, hub);
  const numbering = new Numbering({ database, clock, log, loops });
  const connections = createLiveConnections(config.streams, config.streamsPerAccount, hub.stopping);
  const components = createEventComponents(eventTypes);
  const { eventSchema } = components;
  return {
    provides: { events: service, connections, hub, numbering, eventSchema },
    hub,
    service,
    numbering,
    connections,
    components,
    routes: eventRoutes({ events: service, hub, connections, times, eventTypes, eventSchema }),
    tasks: [() => removeExpiredEvents(database, clock, config.eventRetentionMs)],
    gauges: [
      counter(
        'curd_events_numbered_total',
        'Events that this instance numbered; on SQLite all that were recorded since its start.',
        () => numbering.numbered(),
      ),
      gauge(
        'curd_events_numbering_lag_seconds',
        'Age of the oldest event without a number; always 0 on SQLite.',
        () => numbering.lagSeconds(),
      ),
      gauge('curd_event_streams_open', 'Open event streams and requests that wait, by kind.', () => ({
        '{kind="stream"}': connections.count('stream'),
        '{kind="long_poll"}': connections.count('longPoll'),
      })),
    ],
    checks: [{ name: 'events', run: (snapshot, _, now) => checkEventLog(snapshot, now) }],
    stop: () => hub.stop(),
    close: () => numbering.stop(),
  } satisfies Area;
}

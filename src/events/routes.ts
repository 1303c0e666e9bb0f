/** The event log over HTTP. */
import { anyOf, apiKey, oauth } from '../access/access.ts';
import { AppError, parameterError } from '../errors.ts';
import type { EventTypes } from '../event-log/event-types.ts';
import type { EventFilter } from '../event-log/reading/event-filter.ts';
import type { EventHub } from '../event-log/reading/hub.ts';
import { type EventService, seesAllEvents } from '../event-log/reading/service.ts';
import { badRequestResponse, goneResponse, notFoundResponse } from '../http/responses/error-responses.ts';
import { strongTag } from '../http/responses/etag.ts';
import { TextBody, TextStream } from '../http/responses/response.ts';
import { type Route, route } from '../http/route.ts';
import type { Schema } from '../schema/schema.ts';
import { listQuery, streamQuery, toEventList } from './list-schemas.ts';
import type { LiveConnections } from './live-connections.ts';
import { createEventStream, type StreamTimes } from './stream.ts';

const tag = 'Events';
const access = anyOf(apiKey, oauth('admin'));
const immutable = 'private, max-age=31536000, immutable';

interface Dependencies {
  readonly events: EventService;
  readonly hub: EventHub;
  readonly connections: LiveConnections;
  readonly times: StreamTimes;
  readonly eventTypes: EventTypes;
  readonly eventSchema: Schema;
}

export function eventRoutes(dependencies: Dependencies): Route[] {
  const { events, hub, connections, times, eventTypes, eventSchema } = dependencies;
  return [
    route({
      method: 'GET',
      path: '/events',
      operationId: 'listEvents',
      tag,
      summary: 'List events',
      description:
        'Everything that happened in the shop, in one order without gaps. Send `next` as `since` to continue. With `wait`, a request at the end of the log waits for the next event. Events of accounts, API keys, OAuth clients, approvals and webhook endpoints are listed for the scope `admin` only.',
      access,
      query: listQuery,
      responses: {
        200: { description: 'A page of events', schema: toEventList(eventSchema) },
        ...badRequestResponse('A parameter is not valid'),
        ...goneResponse('The position has expired, or is not in the log any more'),
      },
      handle: async (request) => {
        const { query, principal } = request;
        const filter = filterOf(eventTypes, query, seesAllEvents(principal));
        const after = await events.resolve(query.since);
        const read = (signal?: AbortSignal) =>
          events.waitForEvents(after, filter, query.limit, query.wait * 1000, signal);
        const page = query.wait > 0 ? await connections.longPoll(request, read) : await read();
        const { items, next, hasMore } = page;
        const texts = items.map(({ text }) => text);
        const body = `{"items":[${texts}],"next":"${next}","hasMore":${hasMore}}`;
        return {
          status: 200,
          headers: { 'Cache-Control': 'no-store', ...(hasMore ? { Link: nextLinkOf(query, next) } : {}) },
          body: new TextBody(body),
        };
      },
    }),
    route({
      method: 'GET',
      path: '/events/stream',
      operationId: 'streamEvents',
      tag,
      summary: 'Stream events',
      description:
        'Server-sent events: each block has the event id, the type, and the event as one line of JSON. `Last-Event-ID` wins over `since`; without both, the stream begins with the next event. Browsers cannot send credentials with EventSource: read the stream with fetch.',
      access,
      query: streamQuery,
      headers: {
        'Last-Event-ID': { type: 'string', maxLength: 64, description: 'The last event that was received' },
      },
      mediaType: 'text/event-stream; charset=utf-8',
      responses: {
        200: { description: 'Events, without an end', schema: eventSchema },
        ...badRequestResponse('A parameter is not valid'),
        ...goneResponse('The position has expired, or is not in the log any more'),
      },
      handle: async ({ query, principal, headers, openConnection }) => {
        const filter = filterOf(eventTypes, query, seesAllEvents(principal));
        const after = await events.resolve(String(headers['last-event-id'] ?? query.since));
        const connection = openConnection();
        if (connection.httpVersion === '1.0') {
          throw new AppError('badRequest', 'A stream needs HTTP/1.1 or later.');
        }
        const onEnd = connections.openStream(principal);
        // The client may be gone already: then the event was emitted before this listener, and the body is never read.
        if (connection.closed.aborted) {
          onEnd();
        }
        connection.closed.addEventListener('abort', onEnd);
        return {
          status: 200,
          headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
          body: new TextStream(() =>
            createEventStream({ events, hub, after, filter, connection, times, onEnd }),
          ),
        };
      },
    }),
    route({
      method: 'GET',
      path: '/events/:eventId',
      operationId: 'getEvent',
      examples: { eventId: 'evt_k3Xw_1043' },
      tag,
      summary: 'Read one event',
      description: 'An event of the log by its id. An event that the retention has removed returns 410.',
      access,
      responses: {
        200: { description: 'The event', schema: eventSchema },
        ...notFoundResponse('There is no such event'),
        ...goneResponse('The event has expired, or is not in the log any more'),
      },
      handle: async ({ params, principal }) => {
        const { eventId = '' } = params;
        const text = await events.find(eventId, seesAllEvents(principal));
        return {
          status: 200,
          headers: { ETag: strongTag(eventId), 'Cache-Control': immutable },
          body: new TextBody(text),
        };
      },
    }),
  ];
}

type FilterQuery = { readonly types?: readonly string[]; readonly subject?: string };

/** @throws AppError badRequest for a type that does not exist, and for a text that is not a subject */
function filterOf(eventTypes: EventTypes, { types, subject }: FilterQuery, isAdmin: boolean): EventFilter {
  if (subject !== undefined && !/^\w+:./.test(subject)) {
    throw parameterError(
      'subject',
      'must be a kind and an id, such as order:31. For all events of a kind, send types, such as order.*.',
    );
  }
  const unknown = types?.find((type) => !eventTypes.isKnown(type));
  if (unknown !== undefined) {
    throw parameterError(
      'types',
      `there is no type ${unknown}. Types are ${eventTypes.names.join(', ')}; cheese.* and the like stand for all of a kind.`,
    );
  }
  return { types: types ?? null, subject: subject ?? null, isAdmin };
}

function nextLinkOf(query: FilterQuery & { readonly limit: number }, next: string): string {
  const parameters = new URLSearchParams({ since: next, limit: String(query.limit) });
  if (query.types !== undefined) {
    parameters.set('types', query.types.join(','));
  }
  if (query.subject !== undefined) {
    parameters.set('subject', query.subject);
  }
  return `</v2/events?${parameters}>; rel="next"`;
}

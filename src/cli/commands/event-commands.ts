/** The commands of webhooks, of the event log, of the request log and of caches. */
import { commandName } from '../../command-name.ts';
import { command } from '../framework/command-definition.ts';
import { parseId } from '../framework/command-options.ts';
import {
  createEndpointOptions,
  enableEndpointOptions,
  listDeliveriesOptions,
  listEventsOptions,
  listenOptions,
  listRequestsOptions,
  replayOptions,
  rotateSecretOptions,
  tailEventsOptions,
  triggerOptions,
} from '../framework/event-options.ts';
import { argument, optionalArgument, textArgument } from '../framework/options.ts';
import { edgeCommands } from './edge/edge-commands.ts';

const endpointId = argument(
  'id',
  parseId('webhook endpoint', `"${commandName} webhooks list" shows the ids.`),
);
const deliveryId = argument(
  'deliveryId',
  parseId('delivery', `"${commandName} webhooks deliveries <id>" shows the ids.`),
);
const secretHelp = `Standard output has the secret only and everything else is on standard error, so SECRET=$(${commandName} webhooks create ...) works.`;
const linesHelp = 'One line for each event; with --json, one JSON object on each line.';

export const eventCommands = [
  command({
    name: 'webhooks create',
    summary: 'register a URL that gets new events, and print its secret once',
    help: `${secretHelp}\nA running server sends the first events within a minute.`,
    arguments: [textArgument('url')],
    options: createEndpointOptions,
    load: async () => (await import('./shop/webhooks.ts')).createEndpoint,
  }),
  command({
    name: 'webhooks list',
    summary: 'list the webhook endpoints of all accounts',
    load: async () => (await import('./shop/webhooks.ts')).listEndpoints,
  }),
  command({
    name: 'webhooks rotate-secret',
    summary: 'replace the secret of an endpoint; both secrets sign during the overlap',
    help: `${secretHelp}\nIt also repairs an endpoint whose secret cannot be read because CURD_SECRET was changed.`,
    arguments: [endpointId],
    options: rotateSecretOptions,
    load: async () => (await import('./shop/webhooks.ts')).rotateSecret,
  }),
  command({
    name: 'webhooks enable',
    summary: 'send events to a disabled endpoint again, from where it was disabled',
    arguments: [endpointId],
    options: enableEndpointOptions,
    load: async () => (await import('./shop/webhooks.ts')).enableEndpoint,
  }),
  command({
    name: 'webhooks disable',
    summary: 'send nothing more to an endpoint, which keeps its position',
    arguments: [endpointId],
    load: async () => (await import('./shop/webhooks.ts')).stopEndpoint,
  }),
  command({
    name: 'webhooks delete',
    summary: 'delete an endpoint and its deliveries',
    arguments: [endpointId],
    load: async () => (await import('./shop/webhooks.ts')).deleteEndpoint,
  }),
  command({
    name: 'webhooks test',
    summary: 'send a test ping to an endpoint and print the response',
    help: 'Exit status 2: the receiver did not accept it.',
    arguments: [endpointId],
    load: async () => (await import('./shop/webhooks.ts')).testEndpoint,
  }),
  command({
    name: 'webhooks deliver',
    summary: 'deliver now what waits for an endpoint',
    help: 'Ends a pause, and makes all deliveries due that wait for their next attempt.',
    arguments: [endpointId],
    load: async () => (await import('./shop/webhooks.ts')).deliverNow,
  }),
  command({
    name: 'webhooks deliveries',
    summary: 'list the deliveries to an endpoint, the newest first',
    arguments: [endpointId],
    options: listDeliveriesOptions,
    load: async () => (await import('./shop/webhooks.ts')).listDeliveries,
  }),
  command({
    name: 'webhooks retry',
    summary: 'send the event of a delivery again, or at once where it waits',
    arguments: [deliveryId],
    load: async () => (await import('./shop/webhooks.ts')).retryDelivery,
  }),
  command({
    name: 'webhooks replay',
    summary: 'send a range of events to an endpoint again',
    help: 'The ids are the same as before, so a receiver that remembers ids can ignore what it has.',
    arguments: [endpointId],
    options: replayOptions,
    load: async () => (await import('./shop/webhooks.ts')).replayEvents,
  }),
  command({
    name: 'events list',
    summary: 'list events, the oldest first',
    help: linesHelp,
    options: listEventsOptions,
    load: async () => (await import('./shop/events.ts')).printLoggedEvents,
  }),
  command({
    name: 'events tail',
    summary: 'print new events until Ctrl+C',
    help: linesHelp,
    options: tailEventsOptions,
    load: async () => (await import('./shop/events.ts')).tailEvents,
  }),
  command({
    name: 'events listen',
    summary: 'forward events to a receiver of webhooks that you are developing',
    help: 'Uses a server over HTTP and needs no database. The key is that of CURD_KEY, or --key. Prints the secret that signs, and one line for each event. Enter r to send the last event again; Ctrl+C prints the position to continue from.',
    options: listenOptions,
    load: async () => (await import('./shop/events-listen.ts')).listenToEvents,
  }),
  command({
    name: 'trigger',
    summary: 'make an event happen: performs the real change that causes it, in a local or sandbox shop',
    help: `Without --subject, it makes objects for the event and touches nothing else.\nExample: ${commandName} trigger order.shipped`,
    arguments: [optionalArgument('type')],
    options: triggerOptions,
    load: async () => (await import('./shop/trigger.ts')).triggerEvent,
  }),
  command({
    name: 'requests list',
    summary: 'list requests of the last 24 hours, the newest first',
    help: 'Changes, errors, slow requests, and those with an X-Request-Id of the client.',
    options: listRequestsOptions,
    load: async () => (await import('./shop/requests.ts')).listLoggedRequests,
  }),
  command({
    name: 'requests show',
    summary: 'print what happened to a request, by its X-Request-Id',
    help: 'Always JSON; with --json on one line.',
    arguments: [textArgument('id')],
    load: async () => (await import('./shop/requests.ts')).showLoggedRequest,
  }),
  command({
    name: 'requests tail',
    summary: 'print new requests of the request log until Ctrl+C',
    help: 'One line for each request; with --json, one JSON object on each line.',
    load: async () => (await import('./shop/requests.ts')).tailLoggedRequests,
  }),
  ...edgeCommands,
];

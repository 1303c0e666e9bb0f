/** The commands of events, of the request log, of the clock of a test shop and of caches. */
import { commandName } from '../../command-name.ts';
import { command } from '../framework/command-definition.ts';
import { changeOptions } from '../framework/command-options.ts';
import {
  listEventsOptions,
  listenOptions,
  parseAdvance,
  tailEventsOptions,
  triggerOptions,
} from '../framework/event-options.ts';
import { argument, optionalArgument } from '../framework/options.ts';
import { edgeCommands } from './edge/edge-commands.ts';

const linesHelp = 'One line for each event; with --json, one JSON object on each line.';

export const eventCommands = [
  command({
    name: 'events list',
    summary: 'list events, the oldest first',
    help: linesHelp,
    examples: ['events list --types "order.*" --since 2026-01-15T09:00:00Z'],
    options: listEventsOptions,
    load: async () => (await import('./shop/events.ts')).printLoggedEvents,
  }),
  command({
    name: 'events tail',
    summary: 'print new events until Ctrl+C',
    help: linesHelp,
    examples: ['events tail --types "order.*"'],
    options: tailEventsOptions,
    load: async () => (await import('./shop/events.ts')).tailEvents,
  }),
  command({
    name: 'events listen',
    summary: 'forward events to a receiver of webhooks that you are developing',
    help: 'Uses a server over HTTP and needs no database. The key is that of CURD_KEY, or --key. Prints the secret that signs, and one line for each event. Enter r to send the last event again; Ctrl+C prints the position to continue from.',
    examples: ['events listen --forward-to http://localhost:3000/webhooks'],
    options: listenOptions,
    load: async () => (await import('./shop/events-listen.ts')).listenToEvents,
  }),
  command({
    name: 'trigger',
    summary: 'make an event happen: performs the real change that causes it, in a local or sandbox shop',
    help: 'Without --subject, it makes objects for the event and touches nothing else.',
    examples: ['trigger order.shipped', 'trigger order.delivered --subject order:31'],
    arguments: [optionalArgument('type')],
    options: triggerOptions,
    load: async () => (await import('./shop/trigger.ts')).triggerEvent,
  }),
  command({
    name: 'requests tail',
    summary: 'print new requests of the request log until Ctrl+C',
    help: 'One line for each request; with --json, one JSON object on each line.',
    examples: ['requests tail'],
    load: async () => (await import('./shop/tail-requests.ts')).tailLoggedRequests,
  }),
  command({
    name: 'clock advance',
    summary: 'move the time of the shop forward, by a duration or to a time',
    help: `Everything that becomes due on the way is done, in its order: orders are approved, webhooks are sent. It works while a server runs, and not in production. "${commandName} reset" sets the clock back.`,
    examples: ['clock advance 3d'],
    arguments: [argument('duration', parseAdvance)],
    options: changeOptions,
    load: async () => (await import('./shop/advance-clock.ts')).advanceClock,
  }),
  ...edgeCommands,
];

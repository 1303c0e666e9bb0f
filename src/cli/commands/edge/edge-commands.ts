/** The commands on caches in front of the shop. */

import { type CommandDefinition, command } from '../../framework/command-definition.ts';
import { deletePurgerOptions, purgerOptions } from './edge-options.ts';

export const edgeCommands: readonly CommandDefinition[] = [
  command({
    name: 'edge run',
    summary: 'purge what changes from a cache, until Ctrl+C',
    help: 'Run one for each cache, with the settings of the server. It continues where it was stopped; the first time it purges everything. Its log is on standard error.',
    examples: ['edge run --purge-url http://127.0.0.1:6081/'],
    options: purgerOptions,
    load: async () => (await import('./edge.ts')).runEdgePurger,
  }),
  command({
    name: 'edge list',
    summary: 'list the caches that "curd edge run" purges, and how far each is behind',
    examples: ['edge list'],
    load: async () => (await import('./edge.ts')).listPurgedCaches,
  }),
  command({
    name: 'edge delete',
    summary: 'forget a cache that is not purged any more',
    examples: ['edge delete --purge-url http://127.0.0.1:6081/'],
    options: deletePurgerOptions,
    load: async () => (await import('./edge.ts')).deletePurgedCache,
  }),
];

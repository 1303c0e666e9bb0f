/** The commands of snapshots. They refuse production shops. */
import { commandName } from '../../command-name.ts';
import { type CommandDefinition, command } from '../framework/command-definition.ts';
import { parseId, resetOptions } from '../framework/command-options.ts';
import { argument, textArgument } from '../framework/options.ts';

const snapshotId = argument('id', parseId('snapshot', `"${commandName} snapshots list" shows the ids.`));

export const snapshotCommands: readonly CommandDefinition[] = [
  command({
    name: 'snapshots create',
    summary: 'make a snapshot of a local or sandbox shop, to which tests can go back',
    help: `A shop has ten at most. They are not backups: they are stored with the database. It works while a server runs.\nExample: ${commandName} snapshots create "before the tests"`,
    arguments: [textArgument('name')],
    load: async () => (await import('./shop/snapshots.ts')).createSnapshot,
  }),
  command({
    name: 'snapshots list',
    summary: 'list the snapshots of a shop, the oldest first',
    load: async () => (await import('./shop/snapshots.ts')).listSnapshots,
  }),
  command({
    name: 'snapshots restore',
    summary: 'bring the shop back to a snapshot, with the ids that it had then',
    help: 'Accounts, keys, applications and rate limits stay as they are now. It works while a server runs.',
    arguments: [snapshotId],
    options: resetOptions,
    load: async () => (await import('./shop/snapshots.ts')).restoreSnapshot,
  }),
  command({
    name: 'snapshots delete',
    summary: 'delete a snapshot; the shop does not change',
    arguments: [snapshotId],
    load: async () => (await import('./shop/snapshots.ts')).deleteSnapshot,
  }),
];

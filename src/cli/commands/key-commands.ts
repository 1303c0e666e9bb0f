/**
 * Commands on API keys and applications that are not operations of the API, because only the command line gives the scope
 * admin.
 */
import { commandName } from '../../command-name.ts';
import { type CommandDefinition, command } from '../framework/command-definition.ts';
import { parseId, secretHelp } from '../framework/command-options.ts';
import { createClientOptions, createKeyOptions, rotateKeyOptions } from '../framework/key-options.ts';
import { argument, textArgument } from '../framework/options.ts';

const keyId = argument('id', parseId('API key', `"${commandName} keys list" shows the ids.`));

export const keyCommands: readonly CommandDefinition[] = [
  command({
    name: 'keys create',
    summary: 'create an API key and print it once',
    help: `${secretHelp}\n--publishable makes a key for web pages and apps, --restricted one that does only what its scopes say, within its limits.`,
    examples: ['keys create --account shop --scope write:cheeses --expires-in 90d'],
    options: createKeyOptions,
    load: async () => (await import('./access/keys.ts')).createKey,
  }),
  command({
    name: 'keys show',
    summary: 'show an API key with its limits, and what a restricted one spent by day',
    examples: ['keys show 12'],
    arguments: [keyId],
    load: async () => (await import('./access/keys.ts')).showKey,
  }),
  command({
    name: 'keys rotate',
    summary: 'create a key that replaces another; both are valid during the overlap',
    help: secretHelp,
    examples: ['keys rotate 12 --overlap 1h'],
    arguments: [keyId],
    options: rotateKeyOptions,
    load: async () => (await import('./access/keys.ts')).rotateKey,
  }),
  command({
    name: 'clients create',
    summary: 'register an application and print its secret once',
    help: `${secretHelp} A public application has no secret: its client id is printed instead.`,
    examples: [
      'clients create "Cheese diary" --account shop --scope "read:cheeses read:orders" --redirect-uri https://app.example/callback',
    ],
    arguments: [textArgument('name')],
    options: createClientOptions,
    load: async () => (await import('./access/clients.ts')).createClient,
  }),
];

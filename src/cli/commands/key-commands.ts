/** The commands on API keys. */
import { commandName } from '../../command-name.ts';
import { createKeyOptions, listKeysOptions, rotateKeyOptions } from '../framework/access-options.ts';
import { type CommandDefinition, command } from '../framework/command-definition.ts';
import { changeOptions, parseId } from '../framework/command-options.ts';
import { argument } from '../framework/options.ts';

/** The help of commands that print a secret. */
export const secretHelp = `Standard output has the secret only and everything else is on standard error, so KEY=$(${commandName} keys create ...) works.`;
const keyId = argument('id', parseId('API key', `"${commandName} keys list" shows the ids.`));

export const keyCommands: readonly CommandDefinition[] = [
  command({
    name: 'keys create',
    summary: 'create an API key and print it once',
    help: `${secretHelp}\n--publishable makes a key for web pages and apps, --restricted one that does only what its scopes say, within its limits.`,
    options: createKeyOptions,
    load: async () => (await import('./access/keys.ts')).createKey,
  }),
  command({
    name: 'keys list',
    summary: 'list the active API keys of an account',
    options: listKeysOptions,
    load: async () => (await import('./access/keys.ts')).listKeys,
  }),
  command({
    name: 'keys show',
    summary: 'show an API key with its limits, and what a restricted one spent by day',
    arguments: [keyId],
    load: async () => (await import('./access/keys.ts')).showKey,
  }),
  command({
    name: 'keys rotate',
    summary: 'create a key that replaces another; both are valid during the overlap',
    help: secretHelp,
    arguments: [keyId],
    options: rotateKeyOptions,
    load: async () => (await import('./access/keys.ts')).rotateKey,
  }),
  command({
    name: 'keys revoke',
    summary: 'revoke an API key immediately',
    arguments: [keyId],
    options: changeOptions,
    load: async () => (await import('./access/keys.ts')).revokeKey,
  }),
];

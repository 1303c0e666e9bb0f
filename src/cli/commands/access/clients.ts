import type { createClientOptions } from '../../framework/access-options.ts';
import { type ChangeOptions, makeChange } from '../../framework/change.ts';
import type { CommandOptions, OptionsOf } from '../../framework/options.ts';
import { printSecret, printTable } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';

/** Registers an application and prints its secret once. A public application has none: its client id is printed. */
export function createClient(name: string, options: OptionsOf<typeof createClientOptions>): Promise<void> {
  return withShop(options, async ({ auth: { keys }, oauth: { clients }, contextOf }) => {
    const account = await keys.findAccount(options.account);
    const { clientId, clientSecret } = await clients.create(contextOf('cli'), {
      name,
      accountId: account.id,
      scopes: options.scope,
      redirectUris: options.redirectUri,
      grants: options.grant,
      isNative: options.native,
      isPublic: options.public,
    });
    printSecret(
      options,
      clientSecret ?? clientId,
      { clientId, clientSecret },
      clientSecret === null
        ? 'This is the client id. The application is public: it has no secret, and PKCE is required.'
        : `This is the secret of the application with the client id ${clientId}. Keep it: it is not shown again.`,
    );
  });
}

export function listClients(options: CommandOptions): Promise<void> {
  return withShop(options, async ({ oauth: { clients } }) => {
    printTable(
      options,
      await clients.list(),
      {
        'client id': ({ clientId }) => clientId,
        name: ({ name }) => name,
        account: ({ account }) => account,
        scopes: ({ scopes }) => scopes.join(' '),
        grants: ({ grants }) => grants.join(' '),
        redirects: ({ redirectUris }) => redirectUris.join(' ') || '-',
      },
      'There are no clients.',
    );
  });
}

/** Deletes an application and all its tokens. */
export function deleteClient(clientId: string, options: ChangeOptions): Promise<void> {
  return makeChange(options, async ({ oauth: { clients } }, context) => {
    await clients.delete(context, clientId);
    return { value: { clientId, deleted: true }, text: 'The application and all its tokens are deleted.' };
  });
}

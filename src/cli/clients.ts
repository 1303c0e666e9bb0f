import { scopes } from '../auth/access.ts';
import { grantTypes } from '../auth/oauth/clients.ts';
import {
  type CommandOptions,
  formatTable,
  parseChoice,
  printResult,
  printSecret,
  splitList,
  withServices,
} from './run-command.ts';

/** Registers an application and prints its secret, once; of a public application, which has none, the client id. */
export function createClient(name: string, options: CommandOptions): Promise<void> {
  return withServices(options, async ({ keys, clients, contextOf }) => {
    const account = await keys.findAccount(String(options.account));
    const { clientId, clientSecret } = await clients.create(contextOf('cli'), {
      name,
      accountId: account.id,
      scopes: splitList(options.scope).map((scope) => parseChoice('--scope', scope, scopes)),
      redirectUris: (options.redirectUri as string[] | undefined) ?? [],
      grants:
        options.grant === undefined
          ? undefined
          : splitList(options.grant).map((grant) => parseChoice('--grant', grant, grantTypes)),
      isNative: options.native === true,
      isPublic: options.public === true,
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
  return withServices(options, async ({ clients }) => {
    const items = await clients.list();
    const rows = items.map((client) => [
      client.clientId,
      client.name,
      client.account,
      client.scopes.join(' '),
      client.grants.join(' '),
      client.redirectUris.join(' ') || '-',
    ]);
    printResult(
      options,
      items,
      formatTable(['client id', 'name', 'account', 'scopes', 'grants', 'redirects'], rows),
    );
  });
}

/** Ends an application with all its tokens. */
export function deleteClient(clientId: string, options: CommandOptions): Promise<void> {
  return withServices(options, async ({ clients, contextOf }) => {
    await clients.delete(contextOf('cli'), clientId);
    printResult(options, { clientId, deleted: true }, 'The application is gone, and all its tokens with it.');
  });
}

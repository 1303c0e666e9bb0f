import type { createClientOptions } from '../../framework/key-options.ts';
import type { OptionsOf } from '../../framework/options.ts';
import { printSecret } from '../../framework/output.ts';
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

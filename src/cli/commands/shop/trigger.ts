/** `curd trigger`: makes an event happen. */
import type { Principal } from '../../../access/principal.ts';
import { eventTypes } from '../../../app/event-types.ts';
import { commandName } from '../../../command-name.ts';
import { ConfigError } from '../../../settings/parsers.ts';
import type { triggerOptions } from '../../framework/event-options.ts';
import type { OptionsOf } from '../../framework/options.ts';
import { printResult } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';

/** Whoever runs commands is an operator. */
const operator: Principal = {
  ...{ kind: 'apiKey', id: 'cli', accountId: null, plan: 'enterprise', scopes: new Set(['admin']) },
  ...{
    customerId: null,
    confinedTo: null,
    expiresAt: null,
    sessionHash: null,
    tokenHash: null,
    audience: 'any',
    limits: null,
  },
};

/** Performs the change that causes an event, and prints the event. With --list, prints the types of events. */
export async function triggerEvent(
  type: string | undefined,
  options: OptionsOf<typeof triggerOptions>,
): Promise<void> {
  if (options.list) {
    printResult(options, eventTypes.names, eventTypes.names.join('\n'));
    return;
  }
  if (type === undefined) {
    throw new ConfigError(
      `The type of an event is missing. "${commandName} trigger --list" prints the types.`,
    );
  }
  await withShop(options, async ({ sandbox: { triggers }, contextOf }) => {
    if (triggers === null) {
      throw new ConfigError(
        'Nothing is triggered in a production shop. Triggers are for local and sandbox shops.',
      );
    }
    const request = { context: contextOf('cli'), principal: operator };
    const event = await triggers.trigger(request, type, options.subject ?? null);
    const { id, subject } = JSON.parse(event) as { readonly id: string; readonly subject: string };
    printResult(options, JSON.parse(event), `${type} of ${subject} is event ${id}.`);
  });
}

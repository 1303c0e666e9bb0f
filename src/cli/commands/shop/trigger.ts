/** `curd trigger`: makes an event happen. */
import { eventTypes } from '../../../app/event-types.ts';
import { commandName } from '../../../command-name.ts';
import { ConfigError } from '../../../settings/parsers.ts';
import type { triggerOptions } from '../../framework/event-options.ts';
import type { OptionsOf } from '../../framework/options.ts';
import { printResult } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';
import { callOperation } from '../../operations/call-operation.ts';

/** Performs the change that causes an event, and prints the event. With --list, prints the types of events. */
export async function triggerEvent(
  type: string | undefined,
  options: OptionsOf<typeof triggerOptions>,
): Promise<void> {
  const { list, subject } = options;
  if (list) {
    printResult(options, eventTypes.names, eventTypes.names.join('\n'));
    return;
  }
  if (type === undefined) {
    throw new ConfigError(
      `The type of an event is missing. "${commandName} trigger --list" prints the types.`,
    );
  }
  await withShop(options, async (shop) => {
    const { event } = await callOperation(shop, 'triggerSandboxEvent', { type, subject });
    printResult(options, event, `${type} of ${event.subject} is event ${event.id}.`);
  });
}

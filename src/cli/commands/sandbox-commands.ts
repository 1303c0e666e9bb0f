/** The commands that help to test an integration. They refuse production shops. */
import { commandName } from '../../command-name.ts';
import { parseDuration } from '../../duration.ts';
import { timestampRule } from '../../schema/text-rules.ts';
import { ConfigError, type Parser } from '../../settings/parsers.ts';
import { type CommandDefinition, command } from '../framework/command-definition.ts';
import { changeOptions } from '../framework/command-options.ts';
import { argument } from '../framework/options.ts';

const parseAdvance: Parser<{ readonly advance: string } | { readonly to: string }> = (text, name) => {
  if (parseDuration(text) !== null) {
    return { advance: text };
  }
  if (timestampRule.test(text)) {
    return { to: text };
  }
  throw new ConfigError(
    `${name} is "${text}": set it to how far, such as 90s, 24h or 3d and at most 366d, or to a time such as 2026-12-24T12:00:00Z.`,
  );
};

export const sandboxCommands: readonly CommandDefinition[] = [
  command({
    name: 'clock show',
    summary: 'print the time of the shop, and how far it was moved',
    load: async () => (await import('./sandbox/clock.ts')).showClock,
  }),
  command({
    name: 'clock advance',
    summary: 'move the time of the shop forward, by a duration or to a time',
    help: `Everything that becomes due on the way is done, in its order: orders are approved, webhooks are sent. It works while a server runs, and not in production. "${commandName} reset" sets the clock back.\nExample: ${commandName} clock advance 3d`,
    arguments: [argument('duration', parseAdvance)],
    options: changeOptions,
    load: async () => (await import('./sandbox/clock.ts')).advanceClock,
  }),
];

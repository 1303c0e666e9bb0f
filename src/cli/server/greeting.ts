/** What a start prints on standard output. */
import { commandName } from '../../command-name.ts';
import type { Environment } from '../../settings/config.ts';

/** The account of the first key. */
export const localAccount = 'local';

export interface Greeting {
  readonly url: string;
  readonly publicUrl: string;
  readonly environment: Environment;
  /** The key of a first start in local. */
  readonly key: string | null;
  /** A link that signs in to the console, in local. */
  readonly console: string | null;
  /** Whether there is no account, and none was created. */
  readonly isEmpty: boolean;
}

export function printGreeting(greeting: Greeting, json: boolean): void {
  const { url, key, console } = greeting;
  process.stdout.write(json ? `${JSON.stringify({ url, key, console })}\n` : greetingText(greeting));
}

function greetingText({ url, publicUrl, environment, key, console, isEmpty }: Greeting): string {
  const first = key === null ? '' : firstKeyText(publicUrl, key);
  const consoleText = console === null ? '' : `Console: ${console}\n`;
  return `Curd is listening on ${url} (${environment})\n${isEmpty ? noAccountText : first}\n${consoleText}Reference: ${publicUrl}/docs   Commands: ${commandName} --help   Stop: Ctrl+C\n`;
}

function firstKeyText(publicUrl: string, key: string): string {
  return `
Your first API key, shown this once:

  ${key}

  curl -H "X-API-Key: ${key}" "${publicUrl}/v2/cheeses?limit=3"

It can read. Create a key that can also write:

  WRITER=$(${commandName} keys create --account local --scope "write:cheeses write:orders")
`;
}

const noAccountText = `
There is no account yet. Create one, and a key for it, with the settings of this server:

  ${commandName} accounts create <name> --plan pro
  KEY=$(${commandName} keys create --account <name>)
`;

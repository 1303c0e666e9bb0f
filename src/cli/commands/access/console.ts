import { spawn } from 'node:child_process';
import { ConfigError } from '../../../settings/parsers.ts';
import { publicBaseUrl } from '../../../settings/urls.ts';
import type { consoleOptions } from '../../framework/command-options.ts';
import type { OptionsOf } from '../../framework/options.ts';
import { printSecret } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';

/** The URL of the console with a link: browsers never send what follows the hash. */
export function consoleLinkUrl(publicUrl: string, link: string): string {
  return `${publicUrl}/console#link=${link}`;
}

/** Prints a link that signs in to the console, once, within 15 minutes. */
export function openConsole(options: OptionsOf<typeof consoleOptions>): Promise<void> {
  return withShop(options, async ({ config, oauth: { consoleLinks }, contextOf }) => {
    if (config.console === 'off') {
      throw new ConfigError('The console of this shop is off: CURD_CONSOLE is off.');
    }
    const { link, expiresAt } = await consoleLinks.create(contextOf('cli'));
    const url = consoleLinkUrl(publicBaseUrl(config, undefined), link);
    const port =
      config.publicUrl === null
        ? ` It is for a server on port ${config.port}: if yours listens on another one, repeat its --port here.`
        : '';
    printSecret(options, url, { url, expiresAt }, `The link signs in once, within 15 minutes.${port}`);
    if (options.open) {
      openInBrowser(url);
    }
  });
}

/** Starts the program that the desktop uses. If there is none, the printed link is enough. */
function openInBrowser(url: string): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? ['explorer', url]
        : ['xdg-open', url];
  spawn(command, args, { detached: true, stdio: 'ignore' })
    .on('error', () => {})
    .unref();
}

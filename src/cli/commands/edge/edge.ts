import { commandName } from '../../../command-name.ts';
import { createLog } from '../../../log.ts';
import { ConfigError } from '../../../settings/parsers.ts';
import type { CommandOptions, OptionsOf } from '../../framework/options.ts';
import { printResult, printTable } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';
import type { deletePurgerOptions, purgerOptions } from './edge-options.ts';

/** Purges until SIGINT or SIGTERM. */
export function runEdgePurger(options: OptionsOf<typeof purgerOptions>): Promise<void> {
  return withShop(options, async ({ config, edge, events: { hub } }) => {
    const { purgeUrl: url, method, header, tagHeader } = options;
    const stopping = new AbortController();
    const stop = () => stopping.abort();
    process.once('SIGINT', stop).once('SIGTERM', stop);
    printResult(options, { purgeUrl: url }, `Changes of the catalogue are purged from ${url}. Ctrl+C ends.`);
    const target = { url, method, headers: Object.fromEntries(header), tagHeader };
    await edge.run(target, createLog(config.logLevel), stopping.signal);
    await hub.stop();
  });
}

export function listPurgedCaches(options: CommandOptions): Promise<void> {
  return withShop(options, async ({ edge }) => {
    printTable(
      options,
      await edge.list(),
      {
        cache: ({ url }) => url,
        'seconds behind': ({ lagSeconds }) => lagSeconds.toFixed(1),
        'position stored at': ({ updatedAt }) => updatedAt,
      },
      'No cache was purged so far.',
    );
  });
}

export function deletePurgedCache(options: OptionsOf<typeof deletePurgerOptions>): Promise<void> {
  return withShop(options, async ({ edge }) => {
    const { purgeUrl } = options;
    if (!(await edge.delete(purgeUrl))) {
      throw new ConfigError(`${purgeUrl} was never purged. "${commandName} edge list" shows the caches.`);
    }
    printResult(options, { deleted: purgeUrl }, `${purgeUrl} is forgotten.`);
  });
}

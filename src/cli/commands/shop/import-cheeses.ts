import { type Mapping, parseMapping } from '../../../catalogue-import/column-mapping.ts';
import { chooseFileFormat } from '../../../catalogue-import/file-formats.ts';
import { type ImportResult, importCheeses } from '../../../catalogue-import/import-cheeses.ts';
import { ImportError } from '../../../catalogue-import/import-error.ts';
import { cheeseEvents } from '../../../cheeses/event-types.ts';
import { createMatcher } from '../../../event-log/reading/event-filter.ts';
import { ConfigError } from '../../../settings/parsers.ts';
import { filterOfTypes } from '../../../webhooks/delivery/replays.ts';
import type { EndpointService } from '../../../webhooks/service.ts';
import type { OptionsOf } from '../../framework/options.ts';
import { pluralize, printResult } from '../../framework/output.ts';
import { progressBar } from '../../framework/progress.ts';
import { withShop } from '../../framework/run-command.ts';
import type { importOptions } from '../../framework/shop-options.ts';
import { listed, refusedExitCode, shownRows, sizeOf } from './import-report.ts';

/** Imports the cheeses of a file. Sets exit status 2 when some rows were refused. */
export async function runImport(file: string, options: OptionsOf<typeof importOptions>): Promise<void> {
  const { update, setStock, dryRun: preview } = options;
  if (setStock && !update) {
    throw new ConfigError('--set-stock changes cheeses that exist: add --update.');
  }
  const mapping = mappingOf(options.map);
  chooseFileFormat(file);
  const size = sizeOf(file);
  await withShop(
    options,
    async (shop) => {
      const bar = progressBar(size);
      const services = { clock: shop.clock, cheeses: shop.cheeses.service, stock: shop.stock.service };
      const report = await importCheeses(services, shop.contextOf('cli'), file, {
        mapping,
        mode: update ? 'update' : 'create',
        setStock,
        preview,
        onProgress: (bytesRead, { created, updated }) =>
          bar.show(bytesRead, `${created + updated} cheeses imported`),
      })
        .catch(addRemedy)
        .finally(bar.clear);
      const receiving = preview
        ? []
        : [
            ...(await webhookText(shop.webhooks.endpoints, cheeseEvents.created.type, report.created)),
            ...(await webhookText(shop.webhooks.endpoints, cheeseEvents.updated.type, report.updated)),
          ];
      printResult(options, report, [reportText(report), ...receiving].join('\n'));
      if (report.refusedCount > 0) {
        process.exitCode = refusedExitCode;
      }
    },
    !preview,
  );
}

function mappingOf(texts: readonly string[]): Mapping {
  try {
    return parseMapping(texts);
  } catch (error) {
    return addRemedy(error);
  }
}

/** Adds to an error about columns how they are named on the command line. */
function addRemedy(error: unknown): never {
  throw error instanceof ImportError && error.field === 'map'
    ? new ConfigError(`${error.message} Name the columns with --map, as in --map name=Column.`)
    : error;
}

/** How many events enabled webhook endpoints will get. */
async function webhookText(
  endpoints: Pick<EndpointService, 'list'>,
  type: string,
  events: number,
): Promise<string[]> {
  const all = events === 0 ? [] : (await endpoints.list()).map((text) => JSON.parse(text));
  const receiving = all.filter(
    ({ status, types }) => status === 'enabled' && createMatcher(filterOfTypes(types))(type, ''),
  ).length;
  return receiving === 0
    ? []
    : [`${pluralize(receiving, 'webhook endpoint')} will get ${pluralize(events, 'event')} each.`];
}

function reportText(report: ImportResult): string {
  const { created, updated, unchanged, refused, refusedCount, remarks, mode, preview } = report;
  const changed = mode === 'update' ? `, ${updated} updated` : '';
  const counts = `${pluralize(created, 'cheese')} imported${changed}, ${unchanged} unchanged, ${refusedCount} refused.`;
  const read = new Set(Object.values(report.mapping).flat());
  const unread = report.columns.filter((column) => !read.has(column));
  return [
    ...(unread.length === 0 ? [] : [`not read: ${unread.slice(0, shownRows).join(', ')}`]),
    ...listed(
      'left out',
      remarks.map(({ place, remark }) => `${place}: ${remark}`),
    ),
    ...listed(
      'refused',
      refused.map(({ place, reason }) => `${place}: ${reason}`),
    ),
    preview ? `Nothing was written. The import would be: ${counts}` : counts,
  ].join('\n');
}

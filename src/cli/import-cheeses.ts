import { statSync } from 'node:fs';
import { cheeseEvents } from '../cheeses/event-types.ts';
import { parseMapping } from '../cheeses/import/column-mapping.ts';
import { fileFormatOf } from '../cheeses/import/file-formats.ts';
import { type ImportReport, importCheeses } from '../cheeses/import/import-cheeses.ts';
import { matcherOf } from '../events/pages.ts';
import { ConfigError } from '../settings/parsers.ts';
import { reasonOf } from '../system-errors.ts';
import { filterOfTypes } from '../webhooks/replays.ts';
import type { EndpointService } from '../webhooks/service.ts';
import type { importOptions } from './command-options.ts';
import type { OptionsOf } from './options.ts';
import { pluralize, printResult } from './output.ts';
import { progressBar } from './progress.ts';
import { withServices } from './run-command.ts';

const refusedExitCode = 2;
const shownRows = 20;

/** Imports the cheeses of a file. Sets exit status 2 when some rows were refused. */
export async function runImport(file: string, options: OptionsOf<typeof importOptions>): Promise<void> {
  const mapping = parseMapping(options.map);
  fileFormatOf(file);
  const size = sizeOf(file);
  await withServices(
    options,
    async ({ cheeses, stock, webhookEndpoints, contextOf }) => {
      const bar = progressBar(size);
      const report = await importCheeses(
        { cheeses, stock },
        contextOf('cli'),
        file,
        mapping,
        (bytesRead, { created }) => bar.show(bytesRead, `${created} cheeses imported`),
      ).finally(bar.clear);
      const receiving = report.created === 0 ? 0 : await countReceiving(webhookEndpoints);
      printResult(
        options,
        report,
        [reportText(report), ...webhookText(receiving, report.created)].join('\n'),
      );
      if (report.refused.length > 0) {
        process.exitCode = refusedExitCode;
      }
    },
    true,
  );
}

function sizeOf(file: string): number {
  try {
    const stats = statSync(file);
    if (!stats.isDirectory()) {
      return stats.size;
    }
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${reasonOf(error)}.`);
  }
  throw new ConfigError(`${file} is a folder. Name a file in it.`);
}

/** Enabled endpoints that get an event for each new cheese. */
async function countReceiving(endpoints: Pick<EndpointService, 'list'>): Promise<number> {
  const all = (await endpoints.list()).map((text) => JSON.parse(text));
  return all.filter(
    ({ status, types }) =>
      status === 'enabled' && matcherOf(filterOfTypes(types))(cheeseEvents.created.type, ''),
  ).length;
}

function webhookText(endpoints: number, created: number): string[] {
  return endpoints === 0
    ? []
    : [`${pluralize(endpoints, 'webhook endpoint')} will get ${pluralize(created, 'event')} each.`];
}

function reportText({ created, unchanged, refused, remarks }: ImportReport): string {
  return [
    ...listed(
      'left out',
      remarks.map(({ place, remark }) => `${place}: ${remark}`),
    ),
    ...listed(
      'refused',
      refused.map(({ place, reason }) => `${place}: ${reason}`),
    ),
    `${pluralize(created, 'cheese')} imported, ${unchanged} unchanged, ${refused.length} refused.`,
  ].join('\n');
}

function listed(what: string, lines: readonly string[]): string[] {
  const more =
    lines.length > shownRows ? [`... and ${lines.length - shownRows} more ${what}; --json lists all`] : [];
  return [...lines.slice(0, shownRows).map((line) => `${what}: ${line}`), ...more];
}

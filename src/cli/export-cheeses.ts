import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { type ExportedCheese, fileFormatOf, writerFor } from '../cheeses/import/file-formats.ts';
import type { CheesePage, CheeseReader } from '../cheeses/listing.ts';
import type { Cheese } from '../cheeses/schemas.ts';
import { systemClock } from '../clock.ts';
import { ConfigError } from '../settings/parsers.ts';
import type { StockService } from '../stock/service.ts';
import { isSystemError, reasonOf } from '../system-errors.ts';
import type { CommandOptions } from './options.ts';
import { pluralize, printResult } from './output.ts';
import { progressBar } from './progress.ts';
import { withServices } from './run-command.ts';

const pageSize = 1000;
const bytesMax = 4 * 1024 * 1024;

/** Writes the catalogue to a file. */
export async function runExport(file: string, options: CommandOptions): Promise<void> {
  const writer = writerFor(fileFormatOf(file));
  await withServices(options, async ({ listing, stock }) => {
    let count = 0;

    async function* text(): AsyncGenerator<string> {
      yield writer.head;
      for await (const cheese of allCheeses(listing, stock)) {
        yield writer.item(cheese, count);
        count += 1;
      }
      yield writer.tail;
    }

    // Written under a temporary name and renamed, so that the file is complete or absent. The name cannot be guessed
    // and is opened exclusively: a symbolic link planted in a shared folder is never followed.
    const unfinished = `${file}.${systemClock.uuid()}.unfinished`;
    try {
      await pipeline(text, createWriteStream(unfinished, { flags: 'wx', flush: true }));
      await rename(unfinished, file);
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => {});
      throw isSystemError(error) ? new ConfigError(`${file} cannot be written: ${reasonOf(error)}.`) : error;
    }
    printResult(options, { exported: count, file }, `Exported to ${file}: ${pluralize(count, 'cheese')}.`);
  });
}

/** Every cheese in order of creation. Shows a progress bar. */
async function* allCheeses(listing: CheeseReader, stock: StockService): AsyncGenerator<ExportedCheese> {
  const first = (await listing.list(
    { sort: 'createdAt', limit: pageSize },
    { withTotal: true, bytesMax },
  )) as CheesePage;
  const total = first.total ?? 0;
  const bar = progressBar(total);
  let done = 0;
  for (let page = first; ; ) {
    const cheeses = JSON.parse(`[${page.items}]`) as Cheese[];
    const onHand = await stock.onHandOf(cheeses.map(({ id }) => id));
    for (const cheese of cheeses) {
      const stockKg = onHand.get(cheese.id);
      yield stockKg === undefined ? cheese : { ...cheese, stockKg };
    }
    done += cheeses.length;
    bar.show(done, `${done} of ${total} cheeses`);
    if (page.nextCursor === null) {
      bar.clear();
      return;
    }
    page = (await listing.list(
      { cursor: page.nextCursor, limit: pageSize },
      { withTotal: false, bytesMax },
    )) as CheesePage;
  }
}

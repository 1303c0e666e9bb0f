import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { chooseFileFormat, type ExportedCheese, writerFor } from '../../../catalogue-import/file-formats.ts';
import { parseCheese } from '../../../cheeses/schemas.ts';
import type { CheeseService } from '../../../cheeses/service.ts';
import { systemClock } from '../../../clock.ts';
import { ConfigError } from '../../../settings/parsers.ts';
import type { StockService } from '../../../stock/service.ts';
import { isSystemError, toReason } from '../../../system-errors.ts';
import type { CommandOptions } from '../../framework/options.ts';
import { pluralize, printResult } from '../../framework/output.ts';
import { progressBar } from '../../framework/progress.ts';
import { withShop } from '../../framework/run-command.ts';

/** A cheese can have 200 kB. */
const pageSize = 200;

/** Writes the catalogue to a file. */
export async function runExport(file: string, options: CommandOptions): Promise<void> {
  const writer = writerFor(chooseFileFormat(file));
  await withShop(options, async ({ cheeses: { service: cheeses }, stock: { service: stock } }) => {
    let count = 0;

    async function* text(): AsyncGenerator<string> {
      yield writer.head;
      for await (const cheese of allCheeses(cheeses, stock)) {
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
      throw isSystemError(error) ? new ConfigError(`${file} cannot be written: ${toReason(error)}.`) : error;
    }
    printResult(options, { exported: count, file }, `Exported to ${file}: ${pluralize(count, 'cheese')}.`);
  });
}

/** Every cheese in order of creation. Shows a progress bar. */
async function* allCheeses(service: CheeseService, stock: StockService): AsyncGenerator<ExportedCheese> {
  const total = await service.count();
  const bar = progressBar(total);
  let done = 0;
  for (let after = 0; ; ) {
    const page = await service.listAfter(after, pageSize);
    const onHand = await stock.onHandOf(page.map(({ id }) => id));
    for (const { id, body } of page) {
      const stockKg = onHand.get(id);
      yield stockKg === undefined ? parseCheese(body) : { ...parseCheese(body), stockKg };
    }
    done += page.length;
    bar.show(done, `${done} of ${total} cheeses`);
    if (page.length < pageSize) {
      bar.clear();
      return;
    }
    after = page.at(-1)?.id ?? after;
  }
}

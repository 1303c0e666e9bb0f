import { importRates, type RateImportResult } from '../../../catalogue-import/rates/import-rates.ts';
import type { OptionsOf } from '../../framework/options.ts';
import { pluralize, printResult } from '../../framework/output.ts';
import { progressBar } from '../../framework/progress.ts';
import { withShop } from '../../framework/run-command.ts';
import type { importRatesOptions } from '../../framework/shop-options.ts';
import { listed, refusedExitCode, sizeOf } from './import-report.ts';

/** Imports the tax rates of a CSV file. Sets exit status 2 when some rows were refused. */
export async function runRateImport(
  file: string,
  options: OptionsOf<typeof importRatesOptions>,
): Promise<void> {
  const { dryRun: preview } = options;
  const size = sizeOf(file);
  await withShop(options, async (shop) => {
    const bar = progressBar(size);
    const services = { clock: shop.clock, taxes: shop.tax.provides.taxes };
    const report = await importRates(services, shop.contextOf('cli'), file, {
      preview,
      onProgress: (bytesRead, { created, updated }) =>
        bar.show(bytesRead, `${created + updated} tax rates imported`),
    }).finally(bar.clear);
    printResult(options, report, reportText(report));
    if (report.refusedCount > 0) {
      process.exitCode = refusedExitCode;
    }
  });
}

function reportText({
  created,
  updated,
  unchanged,
  refused,
  refusedCount,
  preview,
}: RateImportResult): string {
  const counts = `${pluralize(created, 'tax rate')} created, ${updated} updated, ${unchanged} unchanged, ${refusedCount} refused.`;
  return [
    ...listed(
      'refused',
      refused.map(({ place, reason }) => `${place}: ${reason}`),
    ),
    preview ? `Nothing was written. The import would be: ${counts}` : counts,
  ].join('\n');
}

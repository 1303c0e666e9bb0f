/** The commands on the catalogue and on orders that are not one operation of the API. */
import { fieldNames } from '../../cheeses/fields.ts';
import { commandName } from '../../command-name.ts';
import { rateFields } from '../../tax/schemas.ts';
import { type CommandDefinition, command } from '../framework/command-definition.ts';
import { parseId } from '../framework/command-options.ts';
import { argument, textArgument } from '../framework/options.ts';
import { importOptions, importRatesOptions } from '../framework/shop-options.ts';

export const shopCommands: readonly CommandDefinition[] = [
  command({
    name: 'orders show',
    summary: 'show an order with its timeline',
    examples: ['orders show 3'],
    arguments: [argument('orderId', parseId('order', `"${commandName} orders list" shows the ids.`))],
    load: async () => (await import('./shop/show-order.ts')).showOrder,
  }),
  command({
    name: 'import cheeses',
    summary:
      'import cheeses from a .csv, .json or .ndjson file; cheeses that exist are changed only with --update',
    help: `Fields: ${fieldNames.join(', ')}, stockKg.\nPortions are written as 200; 8000 Half wheel.\nCheeses that exist are found by category and name. Run it with --dry-run first.\nExit status 2: some rows were refused; all others were imported.`,
    examples: ['import cheeses catalogue.csv --dry-run'],
    arguments: [textArgument('file')],
    options: importOptions,
    load: async () => (await import('./shop/import-cheeses.ts')).runImport,
  }),
  command({
    name: 'import tax-rates',
    summary: 'import tax rates from a .csv file; a row replaces the rate of the same place and category',
    help: `Columns: ${rateFields.join(', ')}. Only percent and name are required. Rates that the file does not have stay.\nExit status 2: some rows were refused; all others were imported.`,
    examples: ['import tax-rates rates.csv --dry-run'],
    arguments: [textArgument('file')],
    options: importRatesOptions,
    load: async () => (await import('./shop/import-tax-rates.ts')).runRateImport,
  }),
  command({
    name: 'export cheeses',
    summary: 'export all cheeses to a .csv, .json or .ndjson file, which import reads',
    examples: ['export cheeses catalogue.csv'],
    arguments: [textArgument('file')],
    load: async () => (await import('./shop/export-cheeses.ts')).runExport,
  }),
  command({
    name: 'images rebase',
    summary: 'replace the URLs of uploaded images by the URLs of the current settings',
    help: 'Use it after a change of CURD_PUBLIC_URL or CURD_IMAGES_URL: photoUrls keep the URL of the time of the upload. Other URLs in photoUrls stay.',
    examples: ['images rebase'],
    load: async () => (await import('./shop/images.ts')).runRebase,
  }),
];

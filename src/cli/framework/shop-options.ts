/** Options of the commands on the catalogue and on mails. */
import { commandName } from '../../command-name.ts';
import { parseText } from '../../settings/parsers.ts';
import { parseId } from './command-options.ts';
import { booleanOption, option, repeatableOption } from './options.ts';

export const importOptions = {
  map: repeatableOption(
    'field=Column[,Other]',
    'columns of a field: the first that is not empty is used; for tags, all of them',
    parseText,
  ),
  update: booleanOption(
    'update cheeses that exist with the values of the file; an empty cell changes nothing',
  ),
  setStock: booleanOption('with --update: set the kilograms on hand of cheeses that exist'),
  dryRun: booleanOption('print what the import would do, and write nothing'),
};

export const importRatesOptions = { dryRun: importOptions.dryRun };

export const previewMailOptions = {
  order: option(
    'id',
    'fill it from this order',
    parseId('order', `"${commandName} orders list" shows the ids.`),
  ),
  html: booleanOption('print the HTML in place of the text'),
};

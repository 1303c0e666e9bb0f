/** The options of "curd mail preview". */
import { commandName } from '../../command-name.ts';
import { parseId } from './command-options.ts';
import { booleanOption, option } from './options.ts';

export const previewMailOptions = {
  order: option(
    'id',
    'fill it from this order',
    parseId('order', `"${commandName} orders list" shows the ids.`),
  ),
  html: booleanOption('print the HTML in place of the text'),
};

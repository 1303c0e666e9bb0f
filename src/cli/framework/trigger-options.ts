/** The options of "curd trigger". */
import { parseText } from '../../settings/parsers.ts';
import { booleanOption, option } from './options.ts';

export const triggerOptions = {
  subject: option(
    'kind:id',
    'what the event happens to, such as order:31; by default something new',
    parseText,
  ),
  list: booleanOption('print the types of events'),
};

/** The options of the commands of the request log. */
import { parseInteger, parseText } from '../../settings/parsers.ts';
import { option, requiredOption } from './options.ts';

export const listRequestsOptions = {
  status: option('status', 'a status such as 422, or a class such as 4xx', parseText),
  method: option('method', 'the method', parseText),
  route: option('path', 'the path with its parameters, such as /v2/cheeses/{cheeseId}', parseText),
  error: option('type', 'the type of the error', parseText),
  credential: option('id', 'the id of the credential, such as key:12', parseText),
  from: option('time', 'at this time or later', parseText),
  before: option('time', 'before this time', parseText),
  limit: requiredOption('number', 'how many', parseInteger(1, 10_000), '20'),
};

/** Options of the commands on caches. */
import { commandName } from '../../../command-name.ts';
import { ConfigError, type Parser } from '../../../settings/parsers.ts';
import { repeatableOption, requiredOption } from '../../framework/options.ts';

const parsePurgeUrl: Parser<string> = (text, name) => {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.hash !== '') {
    throw new ConfigError(
      `${name} is "${text}", but must be the URL of a cache, such as http://127.0.0.1:6081/. Send a password with --header.`,
    );
  }
  return url.href;
};

const parseMethod: Parser<string> = (text, name) => {
  if (!/^[A-Z]{1,20}$/.test(text) || ['CONNECT', 'TRACE', 'TRACK'].includes(text)) {
    throw new ConfigError(`${name} is "${text}", but must be a method in capital letters, such as PURGE.`);
  }
  return text;
};

const parseHeader: Parser<readonly [name: string, value: string]> = (text, name) => {
  const [, header = '', value = ''] = /^([^:]*):\s*(.*)$/.exec(text) ?? [];
  try {
    new Headers([[header, value]]);
  } catch {
    throw new ConfigError(`${name} must be the name of a header, a colon and its value.`);
  }
  return [header, value];
};

const parseHeaderName: Parser<string> = (text, name) => parseHeader(`${text}: x`, name)[0];

export const purgerOptions = {
  purgeUrl: requiredOption(
    'url',
    'where the cache takes purges, such as http://127.0.0.1:6081/',
    parsePurgeUrl,
  ),
  method: requiredOption('method', 'method of a purge', parseMethod, 'PURGE'),
  header: repeatableOption(
    'header',
    'header of each purge, such as "Authorization: Bearer ..."',
    parseHeader,
  ),
  tagHeader: requiredOption(
    'name',
    'header with the tags, separated by spaces',
    parseHeaderName,
    'xkey-purge',
  ),
};

export const deletePurgerOptions = {
  purgeUrl: requiredOption('url', `URL of the cache, as "${commandName} edge list" shows it`, parsePurgeUrl),
};

/**
 * The database servers of a URL, of which one accepts writes: postgres://user:password@one:5432,two:5432/name. The driver
 * is given one at a time, because it takes no list.
 */
import { ConfigError } from '../../settings/parsers.ts';

const targetParameter = 'target_session_attrs';
/** Values of the parameter, as libpq knows them, which mean a server that accepts writes. */
const targets = ['read-write', 'primary'];

/** A URL for each server, in their order. @throws ConfigError for a parameter that asks for a standby */
export function urlsIn(databaseUrl: string): string[] {
  const [base = '', query = ''] = databaseUrl.split('?', 2);
  const parameters = new URLSearchParams(query);
  const target = parameters.get(targetParameter) ?? 'read-write';
  if (!targets.includes(target)) {
    throw new ConfigError(
      `The ${targetParameter} of CURD_DATABASE is "${target}": leave it out, or set it to read-write. Curd uses only the server that accepts writes.`,
    );
  }
  parameters.delete(targetParameter);
  const { before, servers, after } = partsOf(base);
  const rest = parameters.size === 0 ? after : `${after}?${parameters}`;
  return servers.map((server) => `${before}${server}${rest}`);
}

/** Host names and IP addresses, without ports: postgres://user:password@one:5432,[::1]:5432/name. */
export function hostsIn(base: string): string[] {
  return partsOf(base).servers.map((server) => server.replace(/:\d*$/, '').replace(/^\[|\]$/g, ''));
}

/** The servers of a URL without parameters, and the texts before and after them. */
function partsOf(base: string): { before: string; servers: string[]; after: string } {
  const start = base.indexOf('://') + 3;
  const slash = base.indexOf('/', start);
  const end = slash === -1 ? base.length : slash;
  const begin = start + base.slice(start, end).lastIndexOf('@') + 1;
  return { before: base.slice(0, begin), servers: base.slice(begin, end).split(','), after: base.slice(end) };
}

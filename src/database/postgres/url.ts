/** What the database URL says. hosts.ts has its list of servers, and tls.ts its parameters of TLS. */
import type { ConnectionOptions } from 'node:tls';
import { ConfigError, parseInteger } from '../../settings/parsers.ts';
import { urlsIn } from './hosts.ts';
import { parseTlsSettings } from './tls.ts';

/** The pool size: how many connections, unless the URL has `?max=`. */
const poolSize = 10;
const poolSizeOfWorkerMin = 2;

/** A server, and the user who connects. What is undefined comes from the variables of libpq, such as PGUSER. */
export interface PostgresServer {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly ssl: ConnectionOptions | false;
}

interface Parameters {
  /** The number of connections. */
  readonly max: number;
  /** Whether statements are prepared: a pooler in transaction mode may run the next one on another connection. */
  readonly prepare: boolean;
}

/** @throws ConfigError */
export function readParameters(databaseUrl: string): Parameters {
  const parameters = new URLSearchParams(databaseUrl.split('?', 2)[1]);
  const prepare = parameters.get('prepare') ?? 'true';
  if (prepare !== 'true' && prepare !== 'false') {
    throw new ConfigError(
      `The parameter prepare of CURD_DATABASE is "${prepare}": set it to false behind a pooler without prepared statements, or leave it out.`,
    );
  }
  const max = parseInteger(1, 1000)(
    parameters.get('max') ?? String(poolSize),
    'The parameter max of CURD_DATABASE',
  );
  return { max, prepare: prepare === 'true' };
}

/**
 * The servers in their order. The driver is given fields instead of the URL, in which a parameter would replace a time
 * limit or the verification of a certificate.
 * @throws ConfigError
 */
export function serversIn(databaseUrl: string): PostgresServer[] {
  return urlsIn(databaseUrl).map((serverUrl) => {
    const { url, ssl } = parseTlsSettings(serverUrl);
    const { hostname, port, username, password, pathname, searchParams } = new URL(url);
    for (const name of searchParams.keys()) {
      if (name !== 'max' && name !== 'prepare') {
        throw new ConfigError(
          `The parameter ${name} of CURD_DATABASE is unknown: leave it out. Settings of a connection belong to the role: alter role <name> set <setting> = <value>.`,
        );
      }
    }
    return {
      host: decoded(hostname.replace(/^\[|\]$/g, '')),
      port: port === '' ? undefined : Number(port),
      user: decoded(username),
      password: decoded(password),
      database: decoded(pathname.slice(1)),
      ssl,
    };
  });
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text) || undefined;
  } catch {
    throw new ConfigError('CURD_DATABASE has a "%" that is not an escape such as %40: write it as %25.');
  }
}

/** The URL for one of several processes, which share the connections. */
export function withShareOfConnections(databaseUrl: string, processes: number): string {
  const [base = '', query = ''] = databaseUrl.split('?', 2);
  const parameters = new URLSearchParams(query);
  const share = Math.ceil(readParameters(databaseUrl).max / processes);
  parameters.set('max', String(Math.max(poolSizeOfWorkerMin, share)));
  return `${base}?${parameters}`;
}

/** Parameters of the database URL that the driver reads without checking them. postgres-tls.ts has those of TLS. */
import { ConfigError } from '../settings/parsers.ts';

/** Connections, unless the URL has `?max=`. */
const poolSize = 10;
const poolSizeOfWorkerMin = 2;

/**
 * `max` is the number of connections. With `prepare=false`, the driver prepares no statement: a pooler in transaction
 * mode may run the next one on another connection.
 * @throws ConfigError
 */
export function readParameters(databaseUrl: string): { readonly max: number } {
  const parameters = new URLSearchParams(databaseUrl.split('?', 2)[1]);
  const prepare = parameters.get('prepare') ?? 'true';
  // The driver would take any other value for true.
  if (prepare !== 'true' && prepare !== 'false') {
    throw new ConfigError(
      `The parameter prepare of CURD_DATABASE is "${prepare}": set it to false behind a pooler without prepared statements, or leave it out.`,
    );
  }
  const max = parameters.get('max') ?? '';
  return { max: /^\d+$/.test(max) ? Number(max) : poolSize };
}

/** The URL for one of several processes, which share the connections. */
export function withShareOfConnections(databaseUrl: string, processes: number): string {
  const [base = '', query = ''] = databaseUrl.split('?', 2);
  const parameters = new URLSearchParams(query);
  const share = Math.ceil(readParameters(databaseUrl).max / processes);
  parameters.set('max', String(Math.max(poolSizeOfWorkerMin, share)));
  return `${base}?${parameters}`;
}

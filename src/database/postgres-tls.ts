/** TLS to PostgreSQL by two parameters of the database URL, with the names of libpq: `sslmode` and `sslrootcert`. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import { ConfigError } from '../settings/parsers.ts';
import { isLoopback } from '../settings/urls.ts';
import { unreadableText } from '../system-errors.ts';
import { hostsIn } from './postgres-hosts.ts';

const modes = ['disable', 'require', 'verify-full', 'verify-ca', 'no-verify'];

export interface TlsSettings {
  /** The URL without the TLS parameters: with them, the driver would not verify the certificate. */
  readonly url: string;
  /** false: no TLS. */
  readonly ssl: ConnectionOptions | false;
}

/** Unlike in libpq, `require` verifies the certificate, as `verify-full` does. @throws ConfigError */
export function tlsOf(databaseUrl: string): TlsSettings {
  const [base = '', query = ''] = databaseUrl.split('?', 2);
  const parameters = new URLSearchParams(query);
  const mode = parameters.get('sslmode') ?? 'disable';
  const rootCertificate = parameters.get('sslrootcert');
  if (!modes.includes(mode)) {
    throw new ConfigError(
      `The sslmode of CURD_DATABASE is "${mode}": set it to require (TLS with a verified certificate), verify-ca, no-verify or disable.`,
    );
  }
  for (const name of ['sslmode', 'sslrootcert']) {
    parameters.delete(name);
  }
  const url = parameters.size === 0 ? base : `${base}?${parameters}`;
  if (mode === 'disable' || mode === 'no-verify') {
    return { url, ssl: mode === 'disable' ? false : { rejectUnauthorized: false } };
  }
  const ca =
    rootCertificate === null || rootCertificate === 'system' ? {} : { ca: certificateIn(rootCertificate) };
  const hosts = hostsIn(base);
  return {
    url,
    ssl: {
      ...ca,
      rejectUnauthorized: true,
      checkServerIdentity: (name, certificate) => {
        if (mode === 'verify-ca') {
          return undefined;
        }
        // The driver passes no server name when the host is an IP address; Node then uses localhost.
        const candidates = hosts.includes(name) ? [name] : hosts.filter((host) => isIP(host) !== 0);
        const errors = candidates.map((host) => checkServerIdentity(host, certificate));
        return errors.includes(undefined) ? undefined : (errors[0] ?? checkServerIdentity(name, certificate));
      },
    },
  };
}

/** Whether the URL neither asks for TLS nor declines it, and the server may be another machine. */
export function isTlsForgotten(databaseUrl: string): boolean {
  const [base = '', query = ''] = databaseUrl.split('?', 2);
  return !new URLSearchParams(query).has('sslmode') && !hostsIn(base).every(isLoopback);
}

function certificateIn(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new ConfigError(unreadableText(`The sslrootcert ${file} of CURD_DATABASE`, error));
  }
}

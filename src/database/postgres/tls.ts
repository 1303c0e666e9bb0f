/** TLS to PostgreSQL by two parameters of the database URL, with the names of libpq: `sslmode` and `sslrootcert`. */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { ConfigError } from '../../settings/parsers.ts';
import { isLoopback } from '../../settings/urls.ts';
import { unreadableText } from '../../system-errors.ts';
import { hostsIn } from './hosts.ts';

const modes = ['disable', 'require', 'verify-full', 'verify-ca', 'no-verify'];

export interface TlsSettings {
  /** The URL without the TLS parameters. */
  readonly url: string;
  /** false: no TLS. */
  readonly ssl: ConnectionOptions | false;
}

/** Unlike in libpq, `require` verifies the certificate, as `verify-full` does. @throws ConfigError */
export function parseTlsSettings(databaseUrl: string): TlsSettings {
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
  // The driver passes the host, with which Node compares the certificate.
  const anyHost = mode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {};
  return { url, ssl: { ...ca, ...anyHost, rejectUnauthorized: true } };
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

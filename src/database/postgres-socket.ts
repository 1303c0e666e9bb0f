/** Opens connections to PostgreSQL that send every packet at once. */
import { connect, type Socket } from 'node:net';

/** The options of the driver that say where the server is. */
interface Place {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** Of a Unix socket. */
  readonly path?: string | false;
}

/**
 * By default, the operating system keeps a short packet back until the one before it is acknowledged: the commit after
 * long statements would wait for their response. The driver has no setting for that.
 */
export function openSocket({ host, port, path }: Place): Socket {
  if (path) {
    return connect(path);
  }
  const place = { host: host[0] as string, port: port[0] as number };
  // The driver reads both from the socket: for the name in the certificate, and for its messages.
  return Object.assign(connect({ ...place, noDelay: true }), place);
}

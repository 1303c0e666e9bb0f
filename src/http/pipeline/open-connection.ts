/** The connection of a request whose response stays open: a long poll or a stream. */
import type { Exchange } from '../exchange.ts';
import type { OpenConnection } from '../route.ts';
import { checkCredential } from './authenticate.ts';

export function createOpenConnection(exchange: Exchange): OpenConnection {
  const { raw } = exchange.reply;
  const closed = new AbortController();
  raw.once('close', () => closed.abort());
  if (raw.destroyed) {
    closed.abort();
  }
  return {
    httpVersion: exchange.request.raw.httpVersion,
    closed: closed.signal,
    recheckCredential: async () => checkCredential(exchange),
    destroy: () => raw.destroy(),
  };
}

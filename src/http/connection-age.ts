/**
 * Closes connections after a number of requests or a time. The kernel gives each new connection to one of the processes
 * that share a port: connections that stay open would keep some busy and others idle.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';

export interface ConnectionLimits {
  readonly requests: number;
  readonly ageMs: number;
}

const defaults: ConnectionLimits = { requests: 10_000, ageMs: 5 * 60_000 };
/** So that connections that were opened together are not closed together. */
const jitter = 0.2;

/** The last response of a connection says that it is closed, so no request is lost. */
export function limitConnections(
  server: Server,
  clock: Pick<Clock, 'random'>,
  { requests, ageMs }: ConnectionLimits = defaults,
): void {
  const connections = new WeakMap<Socket, { left: number; readonly until: number }>();
  const vary = (value: number) => value * (1 - (jitter * (clock.random(1)[0] ?? 0)) / 256);
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { left: Math.ceil(vary(requests)), until: performance.now() + vary(ageMs) });
  });
  server.prependListener('request', ({ socket }, response) => {
    const connection = connections.get(socket);
    if (connection !== undefined) {
      connection.left -= 1;
      if (connection.left <= 0 || performance.now() >= connection.until) {
        response.setHeader('Connection', 'close');
      }
    }
  });
}

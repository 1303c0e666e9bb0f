/** A receiver of webhooks, and endpoints that lead to it. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cleanUp, type Scope } from '../context.ts';

export interface Received {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare it with what they expect.
  readonly body: any;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Requests that run now. */
  running(): number;
  /** All so far. */
  connections(): number;
}

type Respond = (response: ServerResponse, request: Received) => void;

/** Without `respond` every request gets 204. */
export async function openReceiver(
  t: Scope,
  respond: Respond = (response) => response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  let running = 0;
  let connections = 0;
  const server = createServer(async (incoming, response) => {
    running += 1;
    response.on('close', () => {
      running -= 1;
    });
    const text = Buffer.concat(await Array.fromAsync(incoming)).toString('utf8');
    const request = {
      id: String(incoming.headers['webhook-id']),
      headers: incoming.headers,
      text,
      body: JSON.parse(text),
    };
    received.push(request);
    respond(response, request);
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    running: () => running,
    connections: () => connections,
  };
}

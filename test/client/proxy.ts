/** A proxy between the client and a shop, which loses, refuses and cuts what a test tells it to. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cleanUp, type Scope } from '../context.ts';

/** What happens to one request. */
export interface Fate {
  /** Sent in place of the shop's response; the shop gets no request. */
  readonly refuse?: {
    readonly status: number;
    readonly headers?: Record<string, string>;
    readonly body?: string;
  };
  /** The shop gets the request and the client no response. */
  readonly loseResponse?: boolean;
  /** The connection is cut so long after the response began. */
  readonly cutAfterMs?: number;
  /** Changes what the shop sends. */
  readonly edit?: (text: string) => string;
  /** How fast the shop reads the request. */
  readonly bytesPerSecond?: number;
  /** Delays the request. */
  readonly delayMs?: number;
}

export interface Proxy {
  readonly url: string;
  /** Every request, in order: `GET /v2/cheeses`. */
  readonly requests: string[];
  /** The status of every response of the shop, in order. */
  readonly statuses: number[];
  /** The largest number of requests at the same time. */
  readonly maxAtOnce: () => number;
}

/** @param decide by the number of the request, from 1 on */
export async function openProxy(
  t: Scope,
  shopUrl: string,
  decide: (number: number, request: IncomingMessage) => Fate | undefined = () => undefined,
): Promise<Proxy> {
  const requests: string[] = [];
  const statuses: number[] = [];
  let atOnce = 0;
  let maxAtOnce = 0;
  const server = createServer((incoming, outgoing) => {
    outgoing.on('error', () => {});
    requests.push(`${incoming.method} ${incoming.url}`);
    atOnce += 1;
    maxAtOnce = Math.max(maxAtOnce, atOnce);
    outgoing.on('close', () => {
      atOnce -= 1;
    });
    const fate = decide(requests.length, incoming) ?? {};
    setTimeout(() => pass(shopUrl, incoming, outgoing, fate, statuses), fate.delayMs ?? 0).unref();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests, statuses, maxAtOnce: () => maxAtOnce };
}

function pass(
  shopUrl: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  fate: Fate,
  statuses: number[],
): void {
  const { refuse, loseResponse = false, cutAfterMs, edit, bytesPerSecond } = fate;
  if (refuse !== undefined) {
    incoming.resume();
    outgoing.writeHead(refuse.status, refuse.headers).end(refuse.body);
    return;
  }
  const { method = 'GET', headers } = incoming;
  const upstream = request(`${shopUrl}${incoming.url}`, { method, headers }, (response) => {
    statuses.push(response.statusCode ?? 0);
    if (loseResponse) {
      response.resume().on('end', () => outgoing.destroy());
      return;
    }
    if (cutAfterMs !== undefined) {
      setTimeout(() => outgoing.destroy(), cutAfterMs);
    }
    outgoing.writeHead(response.statusCode ?? 500, response.headers);
    response.on('data', (chunk: Buffer) =>
      outgoing.write(edit === undefined ? chunk : edit(chunk.toString())),
    );
    response.on('end', () => outgoing.end());
    response.on('error', () => outgoing.destroy());
  });
  upstream.on('error', () => outgoing.destroy());
  outgoing.on('close', () => upstream.destroy());
  if (bytesPerSecond === undefined) {
    incoming.pipe(upstream);
    return;
  }
  incoming.on('data', (chunk: Buffer) => {
    upstream.write(chunk);
    incoming.pause();
    setTimeout(() => incoming.resume(), (1000 * chunk.length) / bytesPerSecond);
  });
  incoming.on('end', () => upstream.end());
}

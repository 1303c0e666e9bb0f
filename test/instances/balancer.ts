/** Instances behind a round-robin load balancer. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cleanUp, type Scope } from '../context.ts';
import { type Instances, openInstances } from './instances.ts';

export interface Balanced extends Instances {
  /** The URL of the load balancer. */
  readonly url: string;
  /** The URLs of the instances. */
  readonly urls: readonly string[];
  /** The instance and the path of each request, in order. */
  readonly log: readonly { readonly instance: number; readonly path: string }[];
}

export async function openBalanced(t: Scope, howMany: number): Promise<Balanced> {
  const log: { instance: number; path: string }[] = [];
  const ports: number[] = [];
  const server = createServer((incoming, outgoing) => {
    const instance = log.length % ports.length;
    log.push({ instance, path: incoming.url ?? '' });
    const { method, url, headers } = incoming;
    const forwarded = request(
      { host: '127.0.0.1', port: ports[instance], method, path: url, headers, agent: false },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.rawHeaders);
        response.pipe(outgoing);
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const shops = await openInstances(t, howMany, { settings: { CURD_PUBLIC_URL: url } });
  for (const { app } of shops.all) {
    await app.server.listen({ host: '127.0.0.1', port: 0 });
    ports.push((app.server.server.address() as AddressInfo).port);
  }
  return { ...shops, url, urls: ports.map((port) => `http://127.0.0.1:${port}`), log };
}

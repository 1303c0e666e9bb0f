/**
 * Creations of cheeses a second. All of them wait for one row, the catalogue, so a second instance does not double the
 * rate. No rate is a fair target on every machine: the target is what one instance did on the machine of RESULTS.md, and
 * that two instances do no less.
 */
import { randomUUID } from 'node:crypto';
import { openServices } from '../src/app/services.ts';

import { loadConfig } from '../src/settings/config.ts';
import { cheeseAt } from './catalogue.ts';
import { httpRequest, runLoad } from './load.ts';
import type { Running } from './process.ts';
import type { Shop } from './store.ts';

const connections = 16;

/** Creations a second, and the CPU time of the servers for each. */
export interface CreationRate {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
  readonly requests: number;
}

/** Returns a function that creates cheeses through some servers of a shop, which never have the same name. */
export async function prepareCreations(
  shop: Shop,
  firstIndex: number,
): Promise<(servers: readonly Running[], seconds: number) => Promise<CreationRate>> {
  const services = await openServices(loadConfig(shop.environment));
  const context = services.contextOf('bench');
  const account = await services.keys.createAccount(context, `bench ${randomUUID()}`);
  const { key } = await services.keys.create(context, account.id, { scopes: ['write:cheeses'] });
  await services.close();
  let index = firstIndex;
  const next = () => {
    index += 1;
    return httpRequest('POST', '/v2/cheeses', { 'X-API-Key': key }, JSON.stringify(cheeseAt(index)));
  };
  return async (servers, seconds) => {
    const cpuSeconds = () => servers.reduce((sum, server) => sum + server.cpuSeconds(), 0);
    const before = cpuSeconds();
    const loads = await Promise.all(
      servers.map(({ port }) =>
        // With a pause the load sleeps while it waits, because PostgreSQL needs the cores.
        runLoad({
          port,
          requests: { next },
          connections: connections / servers.length,
          seconds,
          pauseMs: 1,
        }),
      ),
    );
    const requests = loads.reduce((sum, load) => sum + load.requests, 0);
    return {
      perSecond: loads.reduce((sum, load) => sum + load.requestsPerSecond, 0),
      cpuMicroseconds: ((cpuSeconds() - before) * 1e6) / requests,
      requests,
    };
  };
}

/**
 * CPU time that the client adds to a request, beyond bare fetch: `node bench/client.ts`. Both send the same request to a
 * server in another process, in turns, so that the load of the machine is the same for both.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Curd } from '../client/src/index.ts';

const rounds = 10;
const requests = 1000;
const limitUs = 20;

const script = `
  const body = JSON.stringify({ available: 48, pending: 6, sold: 3 });
  require('node:http').createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', etag: '"1"', ratelimit: '"burst";r=9;t=1' }).end(body);
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;
async function cpuUs(request: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage();
  for (let sent = 0; sent < requests; sent += 1) {
    await request();
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / requests;
}

const medianOf = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Microseconds of CPU time for a request: bare fetch, and what the client adds in the same round. */
export async function benchClient() {
  const server = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(server.stdout, 'data');
  const baseUrl = `http://127.0.0.1:${String(port).trim()}`;
  const curd = new Curd({ baseUrl, apiKey: 'key' });
  const headers = { 'x-api-key': 'key' };
  const bareUs: number[] = [];
  const addedUs: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const bare = await cpuUs(async () => (await fetch(`${baseUrl}/v2/store/inventory`, { headers })).json());
    const client = await cpuUs(() => curd.inventory.get());
    // The first round warms up.
    if (round >= 0) {
      bareUs.push(bare);
      addedUs.push(client - bare);
    }
  }
  server.kill();
  return { bareUs: medianOf(bareUs), addedUs: medianOf(addedUs), limitUs };
}

if (import.meta.main) {
  const { bareUs, addedUs } = await benchClient();
  console.log(`fetch ${bareUs.toFixed(0)} us, client ${addedUs.toFixed(0)} us more (target: ${limitUs} us)`);
  process.exitCode = addedUs > limitUs ? 1 : 0;
}

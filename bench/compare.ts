/**
 * `node bench/compare.ts <commit or folder> [--engine sqlite|postgres|both] [--rounds 9] [--seconds 2] [--work 'order,login'] [--json]`
 *
 * Compares the CPU time of a request in this checkout with that of another commit, in turns on one machine. For a commit
 * that needs other packages, give a folder where it is checked out and `npm ci` was run. A row is "ok" when the median of
 * this checkout is at most 1.02 times that of the commit. The commit is measured twice: when its two medians differ by
 * more than 2 %, the machine is too busy and the row is "NOISY".
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Engine } from '../src/database/sql.ts';
import { startPostgres, stopPostgres } from '../test/global-setup.ts';
import { queryPostgres } from '../test/postgres-client.ts';
import { httpRequest, type Load, runLoad } from './load.ts';
import { type Running, startCurd } from './process.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: 'string', default: 'both' },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    work: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const [commit] = positionals;
if (commit === undefined) {
  throw new Error('Name the commit to compare with: node bench/compare.ts main~1');
}
const rounds = Number(options.rounds);
const seconds = Number(options.seconds);
const ratioMax = 1.02;
const cheeses = 1000;
const root = fileURLToPath(new URL('..', import.meta.url));
const password = 'a password for the bench';

/** One side of the comparison: a checkout with its own server and data. */
interface Side {
  readonly name: 'before' | 'before again' | 'now';
  readonly server: Running;
  readonly key: string;
}

interface Row {
  readonly engine: Engine;
  readonly work: string;
  readonly before: number;
  readonly beforeAgain: number;
  readonly now: number;
  readonly unit: string;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Runs a command of a checkout with --json and returns what it prints. */
function curdJson(checkout: string, environment: Record<string, string>, ...args: string[]) {
  const output = execFileSync(process.execPath, [join(checkout, 'bin/curd.js'), ...args, '--json'], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
  });
  return JSON.parse(output);
}

/** Creates the same shop for every side. Each checkout creates its own, because their database schemas may differ. */
async function openSide(
  name: Side['name'],
  checkout: string,
  engine: Engine,
  scratch: string,
): Promise<Side> {
  const dataDir = await mkdtemp(join(scratch, 'shop-'));
  const environment: Record<string, string> = {
    CURD_DATA_DIR: dataDir,
    CURD_SECRET: 'a secret that is only good for benches',
    CURD_PLANS: '{"enterprise":{"perHour":1000000000,"burst":60000}}',
    CURD_APPROVAL_DELAY: '1h',
    ...(engine === 'postgres' ? { CURD_DATABASE: await createDatabase() } : {}),
  };
  const file = join(scratch, 'cheeses.ndjson');
  curdJson(checkout, environment, 'migrate');
  curdJson(checkout, environment, 'import', 'cheeses', file);
  curdJson(checkout, environment, 'accounts', 'create', 'bench');
  const { key } = curdJson(
    checkout,
    environment,
    'keys',
    'create',
    '--account',
    'bench',
    '--scope',
    'write:orders write:cheeses',
  );
  const server = await startCurd(environment, join(checkout, 'bin/curd.js'));
  await fetch(`http://127.0.0.1:${server.port}/v2/customer`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username: 'bench', email: 'bench@example.com', password }),
  });
  return { name, server, key };
}

let databases = 0;
/** A PNG of one pixel takes almost no time to decode, so the rest of an upload is compared. */
const image = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

async function createDatabase(): Promise<string> {
  const url = process.env.CURD_TEST_POSTGRES;
  const name = `compare_${databases++}`;
  await queryPostgres(`${url}/postgres`, `create database ${name}`);
  return `${url}/${name}`;
}

const placeOrder = (id: number, headers: Record<string, string>) =>
  httpRequest(
    'POST',
    '/v2/store/order',
    headers,
    JSON.stringify({
      items: [{ cheeseId: id, quantity: 2 }],
      shippingAddress: { street: 'Gerechtigkeitsgasse 1', city: 'Bern', country: 'CH' },
    }),
  );

let orders = 0;

/** The requests of a row. */
function requestsOf(workload: string, key: string): Load['requests'] {
  const headers = { 'X-API-Key': key };
  const ids = Array.from({ length: 100 }, (_, index) => index + 1);
  switch (workload) {
    case 'GET by id':
      return ids.map((id) => httpRequest('GET', `/v2/cheeses/${id}`, headers));
    case 'list':
      return [httpRequest('GET', '/v2/cheeses?limit=20', headers)];
    case 'order':
      return ids.map((id) => placeOrder(id, headers));
    case 'order with an idempotency key':
      return {
        next() {
          orders += 1;
          return placeOrder((orders % 100) + 1, { ...headers, 'Idempotency-Key': `compare-${orders}` });
        },
      };
    case 'upload': {
      const body = Buffer.concat([
        Buffer.from(
          '--bench\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n',
        ),
        image,
        Buffer.from('\r\n--bench--\r\n'),
      ]);
      const type = {
        'Content-Type': 'multipart/form-data; boundary=bench',
        'Content-Length': `${body.length}`,
      };
      return ids.map((id) =>
        Buffer.concat([httpRequest('POST', `/v2/cheeses/${id}/uploadImage`, { ...headers, ...type }), body]),
      );
    }
    default:
      return [httpRequest('POST', '/v2/customer/login', {}, JSON.stringify({ username: 'bench', password }))];
  }
}

const allWorkloads = ['GET by id', 'list', 'order', 'order with an idempotency key', 'login', 'upload'];
const workloads = options.work === undefined ? allWorkloads : options.work.split(',');

async function compareOn(engine: Engine, before: string, scratch: string): Promise<Row[]> {
  const sides = [
    await openSide('before', before, engine, scratch),
    await openSide('now', root, engine, scratch),
    await openSide('before again', before, engine, scratch),
  ];
  const rows: Row[] = [];
  const rowOf = (work: string, unit: string, measure: (side: Side) => number) => {
    const value = (name: Side['name']) => measure(sides.find((side) => side.name === name) as Side);
    rows.push({
      engine,
      work,
      before: value('before'),
      beforeAgain: value('before again'),
      now: value('now'),
      unit,
    });
  };
  rowOf('start to first response', 'ms', ({ server }) => server.startMs);
  rowOf('memory idle', 'MB', ({ server }) => server.memoryMb());
  for (const workload of workloads) {
    const times = new Map<Side, number[]>(sides.map((side) => [side, []]));
    for (let round = -1; round < rounds; round += 1) {
      for (const side of sides) {
        const cpuBefore = side.server.cpuSeconds();
        const { requests } = await runLoad({
          port: side.server.port,
          requests: requestsOf(workload, side.key),
          connections: workload === 'login' || workload === 'upload' ? 4 : 32,
          seconds: round < 0 ? 1 : seconds,
          pauseMs: 0,
        });
        if (round >= 0) {
          times.get(side)?.push(((side.server.cpuSeconds() - cpuBefore) * 1e6) / requests);
        }
      }
    }
    rowOf(workload, 'us CPU', (side) => median(times.get(side) ?? []));
  }
  rowOf('memory after the load', 'MB', ({ server }) => server.memoryMb());
  for (const { server } of sides) {
    await server.stop();
  }
  return rows;
}

function shown({ engine, work, before, beforeAgain, now, unit }: Row): string {
  const reference = (before + beforeAgain) / 2;
  const ratio = now / reference;
  const noise = Math.abs(before - beforeAgain) / reference;
  const verdict = noise > ratioMax - 1 ? 'NOISY' : ratio <= ratioMax ? 'ok   ' : 'SLOW ';
  return `${verdict}  ${engine.padEnd(8)} ${work.padEnd(22)} ${before.toFixed(1)} and ${beforeAgain.toFixed(1)} before, ${now.toFixed(1)} now ${unit}, ratio ${ratio.toFixed(3)}`;
}

const scratch = await mkdtemp(join(tmpdir(), 'curd-compare-'));
const isFolder = existsSync(join(commit, 'package.json'));
const before = isFolder ? commit : join(scratch, 'before');
if (!isFolder) {
  execFileSync('git', ['worktree', 'add', '--detach', before, commit], { cwd: root, stdio: 'ignore' });
}
try {
  if (!isFolder) {
    await symlink(join(root, 'node_modules'), join(before, 'node_modules'));
  }
  const lines = Array.from({ length: cheeses }, (_, index) =>
    JSON.stringify({
      name: `Cheese ${index}`,
      category: { name: `Family ${index % 10}` },
      pricePerKg: 10 + index / 100,
    }),
  );
  await writeFile(join(scratch, 'cheeses.ndjson'), `${lines.join('\n')}\n`);
  if (!options.json) {
    console.log(
      `${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.versions.node}; ${rounds} rounds of ${seconds} s`,
    );
  }
  const all: Row[] = [];
  for (const engine of ['sqlite', 'postgres'] as const) {
    if (options.engine === 'both' || options.engine === engine) {
      if (engine === 'postgres') {
        await startPostgres([]);
      }
      const rows = await compareOn(engine, before, scratch);
      all.push(...rows);
      if (!options.json) {
        console.log(rows.map(shown).join('\n'));
      }
      if (engine === 'postgres') {
        await stopPostgres();
      }
    }
  }
  if (options.json) {
    console.log(JSON.stringify(all));
  }
} finally {
  if (!isFolder) {
    execFileSync('git', ['worktree', 'remove', '--force', before], { cwd: root });
  }
  await rm(scratch, { recursive: true, force: true });
}

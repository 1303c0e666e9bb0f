/**
 * `node bench/console.ts [--size 1000000] [--orders 50000] [--data-dir <a shop of that size>]`
 *
 * The console in Chromium on a large shop on SQLite: how long each screen takes until it shows its data, a key until its
 * card has moved, an event until it is seen, and the memory of the tab. It adds the orders to the shop of --data-dir.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { type CDPSession, type Page, chromium as playwright } from 'playwright-core';
import { composeShop } from '../src/app/compose.ts';
import { sql } from '../src/database/sql.ts';
import { loadConfig } from '../src/settings/config.ts';
import { unpackBrowser } from '../test/browser/installed-browser.ts';
import { fillCatalogue } from './catalogue.ts';
import { cpuSecondsOf, startCurd } from './process.ts';

const { values: options } = parseArgs({
  options: {
    size: { type: 'string', default: '1000000' },
    orders: { type: 'string', default: '50000' },
    'data-dir': { type: 'string' },
  },
});
const patienceMs = 60_000;
const clients = 32;
const approvedOrders = 1000;
const scrolledRows = 2000;
const rounds = 5;

const ownFolder = options['data-dir'] === undefined ? await mkdtemp(join(tmpdir(), 'curd-bench-')) : null;
const environment: Record<string, string> = {
  CURD_DATA_DIR: ownFolder ?? options['data-dir'] ?? '',
  CURD_SECRET: 'a secret that is only good for benches',
  CURD_PLANS: '{"enterprise":{"perHour":1000000000,"burst":60000}}',
  // Orders stay open.
  CURD_APPROVAL_DELAY: '1d',
};

function row(work: string, value: number, limit: number, unit: string, more = ''): void {
  console.log(
    `${value <= limit ? 'met   ' : 'MISSED'} ${work}: ${Math.round(value)} ${unit} (target <= ${limit} ${unit})${more}`,
  );
}

const middle = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Fills the shop, and returns a key for orders, and cheeses that can be ordered. */
async function prepare(): Promise<{ readonly key: string; readonly cheeseIds: readonly number[] }> {
  const services = await composeShop(loadConfig(environment));
  const context = services.contextOf('bench');
  if (ownFolder !== null) {
    await fillCatalogue(services, Number(options.size), () => {});
  }
  const account = await services.auth.keys.createAccount(context, `console ${Date.now()}`);
  const { key } = await services.auth.keys.create(context, account.id, { scopes: ['write:orders', 'admin'] });
  const available = await services.database.all<{ id: number }>(
    sql`select id from cheese where status = 'available' order by id limit 100`,
  );
  await services.database.close();
  return { key, cheeseIds: available.map(({ id }) => id) };
}

const { key, cheeseIds } = await prepare();
const server = await startCurd(environment);
const origin = `http://127.0.0.1:${server.port}`;

async function send(path: string, body?: unknown): Promise<number> {
  const response = await fetch(`${origin}/v2${path}`, {
    method: 'POST',
    headers: { 'X-API-Key': key, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) {
    throw new Error(`POST ${path} returned ${response.status}: ${await response.text()}`);
  }
  const { id } = (await response.json()) as { readonly id: number };
  return id;
}

const place = (index: number) =>
  send('/store/order', {
    items: [0, 7].map((offset) => ({
      cheeseId: cheeseIds[(index + offset) % cheeseIds.length],
      quantity: 1 + (index % 9),
    })),
    shippingAddress: { street: 'Gerechtigkeitsgasse 1', city: 'Bern', zipCode: '3011', country: 'CH' },
  });

/** Runs a function for each number, a few at once. */
async function forEach(count: number, run: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < count) {
      next += 1;
      await run(next - 1);
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
}

const placed: number[] = [];

async function fillOrders(): Promise<void> {
  await forEach(Number(options.orders), async (index) => placed.push(await place(index)));
  await forEach(Math.min(approvedOrders, placed.length), (index) =>
    send(`/store/order/${placed[index]}/approve`),
  );
}

const browserFolder = await mkdtemp(join(tmpdir(), 'curd-bench-browser-'));
const browser = await playwright.launch({
  executablePath: await unpackBrowser(browserFolder),
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});

async function link(): Promise<string> {
  const curd = fileURLToPath(new URL('../bin/curd.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [curd, 'console', '--json'], {
    env: { ...process.env, ...environment, CURD_PORT: String(server.port) },
  });
  return JSON.parse(stdout).url;
}

async function openPage(viewport: { width: number; height: number }): Promise<Page> {
  const page = await (await browser.newContext({ locale: 'en-US', viewport })).newPage();
  page.setDefaultTimeout(patienceMs);
  await page.addInitScript(countRequests);
  return page;
}

/** Counts the requests of the page that wait for a response. The event stream never ends. */
const countRequests = `
  window.waiting = 0;
  const send = fetch;
  window.fetch = (input, init) => {
    const isStream = String(input.url ?? input).includes('/events/stream');
    waiting += isStream ? 0 : 1;
    return send(input, init).finally(() => { waiting -= isStream ? 0 : 1; });
  };`;

/** In the page: does something, and waits until a condition is true in two frames. Returns the milliseconds between. */
const timed = (begin: string, condition: string) => `new Promise((resolve, reject) => {
  const startedAt = performance.now();
  ${begin};
  let frames = 0;
  const look = () => {
    const now = performance.now();
    frames = ${condition} ? frames + 1 : 0;
    if (frames > 1) resolve(now - startedAt);
    else if (now - startedAt > ${patienceMs}) reject(new Error('It took too long.'));
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})`;

const isReady = `document.querySelector('h1') !== null && waiting === 0
  && document.querySelector('.mantine-Loader-root, .mantine-Skeleton-root') === null`;
const open = (path: string) =>
  `history.pushState(null, '', '/console${path}'), dispatchEvent(new PopStateEvent('popstate'))`;

/** A phone: the scripts of the page are a quarter as fast, and the network has 20 Mbit/s. */
async function phone(): Promise<void> {
  const page = await openPage({ width: 360, height: 740 });
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await session.send('Network.enable');
  const bytesPerSecond = 20_000_000 / 8;
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 20,
    downloadThroughput: bytesPerSecond,
    uploadThroughput: bytesPerSecond,
  });
  await page.goto(await link(), { waitUntil: 'commit' });
  await page.evaluate(timed('', isReady));
  row(
    'Home on a phone, from the request of the page to its figures',
    await page.evaluate<number>('performance.now()'),
    1000,
    'ms',
  );
  const screen = await page.evaluate<number>(
    timed(
      `document.querySelector('.tabs a[href$="/orders"]').click()`,
      `document.querySelector('h1')?.textContent === 'Orders' && ${isReady}`,
    ),
  );
  row('Orders on a phone, after Home', screen, 300, 'ms');
  await page.context().close();
}

const page = await openPage({ width: 1280, height: 800 });

async function tabProcesses(): Promise<number[]> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
}

async function tabCpuMs(): Promise<number> {
  return (await tabProcesses()).reduce((sum, id) => sum + cpuSecondsOf(id) * 1000, 0);
}

async function screens(): Promise<void> {
  const ids = { order: placed[0], cheese: cheeseIds[0] };
  const paths = [
    '/orders',
    '/orders?view=list',
    '/orders?view=list&status=placed&tab=all',
    '/orders?view=list&tab=late',
    `/orders/${ids.order}`,
    '/cheeses',
    '/cheeses?q=ched',
    '/cheeses?q=gou%20fer',
    '/cheeses?category=Hard',
    '/cheeses?status=available&tags=goat,sheep',
    '/cheeses?sort=-pricePerKg',
    '/cheeses?minPrice=10&maxPrice=40&sort=ageMonths',
    '/cheeses?missing=image',
    `/cheeses/${ids.cheese}`,
    '/stock',
    '/import',
    '/customers',
    '/approvals',
    '/access',
    '/webhooks',
    '/events',
    '/events?types=order.placed',
    '/limits',
    '/operations',
    '/',
  ];
  for (const path of paths) {
    const before = [await tabCpuMs(), server.cpuSeconds() * 1000] as const;
    const ms = await page.evaluate<number>(timed(open(path), isReady));
    const [tab, served] = [(await tabCpuMs()) - before[0], server.cpuSeconds() * 1000 - before[1]];
    // On a busy machine the CPU time says more.
    row(
      `screen ${path}`,
      ms,
      500,
      'ms',
      `, CPU of the tab ${Math.round(tab)} ms, of the server ${Math.round(served)} ms`,
    );
  }
}

/** From a key to the card in the next column, and to the response of the server. */
async function keys(): Promise<void> {
  await page.evaluate(timed(open('/orders'), isReady));
  const shown: number[] = [];
  const confirmed: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const card = page.locator('section[aria-label="placed"] [data-order]').first();
    await card.getByRole('link').focus();
    const id = await card.getAttribute('data-order');
    await page.evaluate(`window.moved = new Promise((resolve) => {
      addEventListener('keydown', () => {
        const pressedAt = performance.now();
        const look = () => document.querySelector('section[aria-label="placed"] [data-order="${id}"]') === null
          ? resolve(performance.now() - pressedAt) : requestAnimationFrame(look);
        look();
      }, { once: true, capture: true });
    }), undefined`);
    const done = page.waitForResponse((response) => response.url().endsWith(`/order/${id}/approve`));
    await page.keyboard.press('a');
    shown.push(await page.evaluate<number>('window.moved'));
    const { responseEnd } = (await done).request().timing();
    await (await done).finished();
    confirmed.push(Math.max(responseEnd, (await done).request().timing().responseEnd));
  }
  row('key a to the card in the next column', middle(shown), 50, 'ms');
  row('key a to the response of the server', middle(confirmed), 250, 'ms');
}

/** From the response to another client to the row in the list, newest first. */
async function events(): Promise<void> {
  await page.evaluate(timed(open('/orders?view=list'), isReady));
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const id = await place(round);
    const placedAt = Date.now();
    const seenAt = await page.evaluate<number>(`new Promise((resolve) => {
      const look = () => document.querySelector('main a[href$="/orders/${id}"]') !== null
        ? resolve(Date.now()) : requestAnimationFrame(look);
      look();
    })`);
    times.push(seenAt - placedAt);
  }
  row('event in the shop to the changed list', middle(times), 500, 'ms');
}

/** The private memory of the tab's process, and the heap of its scripts, after garbage was collected. */
async function memory(session: CDPSession): Promise<{ readonly tabMb: number; readonly heapMb: number }> {
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN;
  const sizes = (await tabProcesses()).map((id) => {
    const text = readFileSync(`/proc/${id}/smaps_rollup`, 'utf8');
    const sizesKb = [...text.matchAll(/^Private_\w+:\s+(\d+)/gm)].map(([, size]) => Number(size));
    return sizesKb.reduce((sum, size) => sum + size, 0) / 1024;
  });
  return { tabMb: Math.max(...sizes), heapMb: heap / 1024 / 1024 };
}

async function scroll(): Promise<void> {
  await page.evaluate(timed(open('/cheeses'), isReady));
  const rows = `document.querySelectorAll('.data-table tbody tr').length`;
  const times: number[] = [];
  for (
    let count = await page.evaluate<number>(rows);
    count < scrolledRows;
    count = await page.evaluate<number>(rows)
  ) {
    times.push(
      await page.evaluate<number>(timed('scrollTo(0, document.body.scrollHeight)', `${rows} > ${count}`)),
    );
  }
  row(`next 50 of ${scrolledRows} cheeses, slowest`, Math.max(...times), 500, 'ms');
  const session = await page.context().newCDPSession(page);
  const { tabMb, heapMb } = await memory(session);
  row('heap of the page after that', heapMb, 150, 'MB');
  row('private memory of the tab after that', tabMb, 150, 'MB');
}

try {
  await fillOrders();
  await phone();
  await page.goto(await link());
  await page.getByRole('status', { name: 'Updates: live' }).waitFor();
  await screens();
  await keys();
  await events();
  await scroll();
} finally {
  await browser.close();
  await server.stop();
  await rm(browserFolder, { recursive: true, force: true });
  if (ownFolder !== null) {
    await rm(ownFolder, { recursive: true, force: true });
  }
}

/** Kinds of orders compared with each other: of tracked cheeses, of pieces, with delivery, tax and a code; and quotes. */
import { composeShop } from '../src/app/compose.ts';
import { type Engine, sql } from '../src/database/sql.ts';
import { loadConfig } from '../src/settings/config.ts';
import { runLoad } from './load.ts';
import { postgresCpuSeconds, startCurd } from './process.ts';
import { orderOf, postOrders, type Shop, type Tools } from './store.ts';

const connections = 64;
/** Each order has two cheeses that no other order has, as in a shop with many cheeses. */
const ordersOfEachKind = 100;

interface Kind {
  readonly requests: readonly Buffer[];
  /** Microseconds of CPU time of each round. */
  readonly costs: number[];
  readonly rates: number[];
}

interface Prepared {
  /** Kinds that a shop without delivery, taxes and codes accepts. */
  readonly plain: Readonly<Record<'kilograms' | 'tracked' | 'pieces' | 'quote' | 'dryRun', Kind>>;
  readonly charged: Kind;
  /** Requests that configure delivery, taxes and a code. */
  configure(port: number): Promise<void>;
}

const kindOf = (requests: readonly Buffer[]): Kind => ({ requests, costs: [], rates: [] });

/** The body of an order in pieces of 1000 g, which weigh as much as that in kilograms. */
const inPieces = (body: string) => body.replaceAll(/("quantity":\d+)/g, '$1,"grams":1000');

async function prepare(shop: Shop): Promise<Prepared> {
  const services = await composeShop(loadConfig(shop.environment));
  const context = services.contextOf('bench');
  const account = await services.auth.keys.createAccount(context, 'bench kinds');
  const { key } = await services.auth.keys.create(context, account.id, { scopes: ['write:orders', 'admin'] });
  const pairs = await services.database.all<{ id: number }>(sql`
    select a.id from cheese a join cheese b on b.id = a.id + 1
    where a.id % 2 = 0 and a.status = 'available' and b.status = 'available'
    order by a.id limit ${3 * ordersOfEachKind}`);
  const ids = pairs.map(({ id }) => id);
  const idsOf = (kind: number) => ids.slice(kind * ordersOfEachKind, (kind + 1) * ordersOfEachKind);
  const [untracked, tracked, cut] = [idsOf(0), idsOf(1), idsOf(2)];
  const both = (some: readonly number[]) => some.flatMap((first) => [first, first + 1]);
  for (const id of both(tracked)) {
    await services.stock.service.replace(context, id, { onHand: 1_000_000_000 });
  }
  for (const id of both(cut)) {
    await services.cheeses.service.patch(context, id, { portions: [{ grams: 1000 }, { grams: 200 }] });
  }
  await services.close();
  const headers = { 'X-API-Key': key };
  const orders = (bodies: readonly string[], path = '/v2/store/order', more = {}) =>
    kindOf(postOrders(path, bodies, { ...headers, ...more }));
  const bodies = untracked.map(orderOf);
  const withCode = bodies.map((body) => body.replace('"notes"', '"discountCode":"BENCH","notes"'));
  return {
    plain: {
      kilograms: orders(bodies),
      tracked: orders(tracked.map(orderOf)),
      pieces: orders(cut.map((id) => inPieces(orderOf(id)))),
      quote: orders(bodies, '/v2/quotes'),
      dryRun: orders(bodies, '/v2/store/order', { 'Dry-Run': 'true' }),
    },
    charged: orders(withCode),
    async configure(port) {
      const send = async (method: string, path: string, body: object) => {
        const options = { method, headers: { ...headers, 'Content-Type': 'application/json' } };
        const response = await fetch(`http://127.0.0.1:${port}/v2${path}`, {
          ...options,
          body: JSON.stringify(body),
        });
        if (!response.ok) {
          throw new Error(`${method} ${path}: ${await response.text()}`);
        }
      };
      await send('PATCH', '/shop', { delivery: { required: true }, tax: { mode: 'included' } });
      await send('POST', '/delivery-methods', {
        name: 'Parcel',
        rates: [{ upToGrams: 30_000, amount: 9.9 }],
      });
      await send('POST', '/tax-rates', { country: 'CH', percent: 2.6, name: 'VAT' });
      await send('POST', '/discounts', { code: 'BENCH', kind: 'percent', value: 10 });
    },
  };
}

/** `POST /v2/store/order` and `POST /v2/quotes` by 64 clients, in turns. On PostgreSQL the CPU time of the database is part of it. */
export async function benchOrderKinds(engine: Engine, shop: Shop, tools: Tools): Promise<void> {
  const { rounds, seconds, median, record } = tools;
  const { plain, charged, configure } = await prepare(shop);
  const server = await startCurd({ ...shop.environment, CURD_APPROVAL_DELAY: '1h' });
  const cpuSeconds = () => server.cpuSeconds() + (engine === 'postgres' ? postgresCpuSeconds() : 0);
  async function measure(kinds: readonly Kind[]): Promise<void> {
    for (let round = -1; round < rounds; round += 1) {
      for (const { requests, costs, rates } of kinds) {
        const before = cpuSeconds();
        const load = await runLoad({
          port: server.port,
          requests,
          connections,
          seconds: round < 0 ? 1 : seconds,
          ...(engine === 'postgres' ? { pauseMs: 0 } : {}),
        });
        if (round >= 0) {
          costs.push(((cpuSeconds() - before) * 1e6) / load.requests);
          rates.push(load.requestsPerSecond);
        }
      }
    }
  }
  await measure(Object.values(plain));
  await configure(server.port);
  await measure([charged]);
  await server.stop();

  const { kilograms, tracked, pieces, quote, dryRun } = plain;
  const words = ({ costs, rates }: Kind) =>
    `${Math.round(median(costs))} us CPU, ${Math.round(median(rates))}/s`;
  const compared: readonly (readonly [string, Kind, Kind, number])[] = [
    ['POST /v2/store/order of tracked cheeses compared with untracked ones', tracked, kilograms, 0.9],
    ['POST /v2/store/order of pieces compared with kilograms', pieces, kilograms, 0.97],
    ['POST /v2/quotes compared with a dry run of the order', quote, dryRun, 1],
    ['POST /v2/store/order with delivery, tax and a code compared with one without', charged, kilograms, 0.7],
  ];
  for (const [work, kind, reference, least] of compared) {
    const ratio = median(reference.costs.map((cost, round) => cost / (kind.costs[round] ?? Number.NaN)));
    record({
      engine,
      work,
      measured: words(kind),
      limit: words(reference),
      ratio,
      target: `>= ${least} by CPU time`,
      isMet: ratio >= least,
    });
  }
}

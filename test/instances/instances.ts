/**
 * Several instances of the shop on one PostgreSQL, as behind a load balancer: each is an app with separate connections
 * and a separate data folder; the folder of the images is shared.
 *
 *     const shops = await openInstances(t, 3);
 *     const answers = await shops.atOnce(12, (shop) => shop.request('GET', '/v2/cheeses', { as: shops.reader }));
 */
import assert from 'node:assert/strict';
import { sql } from '../../src/database/sql.ts';
import {
  assertError,
  createDatabase,
  openShop,
  type Scope,
  type Shop,
  type ShopOptions,
  type TestResponse,
  temporaryFolder,
} from '../helper.ts';

export interface Instances {
  readonly all: readonly [Shop, Shop, ...Shop[]];
  /** API keys of one account. */
  readonly reader: string;
  readonly writer: string;
  readonly admin: string;
  /** The next instance, round robin. */
  next(): Shop;
  /** Sends a request to the next instance. */
  readonly request: Shop['request'];
  /** Runs `work` so many times in parallel, on the instances in turn. */
  atOnce<T>(times: number, work: (shop: Shop, index: number) => Promise<T>): Promise<T[]>;
}

export async function openInstances(
  t: Scope,
  howMany: number,
  options: Omit<ShopOptions, 'engine'> = {},
): Promise<Instances> {
  const settings = {
    CURD_DATABASE: await createDatabase(t, 'template_curd'),
    CURD_IMAGES: `file:${await temporaryFolder(t)}`,
    ...options.settings,
  };
  const all: Shop[] = [];
  while (all.length < howMany) {
    all.push(await openShop(t, { ...options, settings }));
  }
  return together(all);
}

/** Apps that run already. */
export function together(all: readonly Shop[]): Instances {
  const [first] = all;
  assert.ok(first !== undefined);
  let turn = 0;
  const next = () => {
    turn += 1;
    return all[turn % all.length] as Shop;
  };
  return {
    all: all as unknown as Instances['all'],
    reader: first.reader,
    writer: first.writer,
    admin: first.admin,
    next,
    request: (method, url, options) => next().request(method, url, options),
    // The instance that starts first changes with each round.
    atOnce: (times, work) => Promise.all(Array.from({ length: times }, (_, index) => work(next(), index))),
  };
}

/** The number of responses with each status, as '1 x 201, 2 x 409'. */
export function tally(responses: readonly TestResponse[]): string {
  const counts = new Map<number, number>();
  for (const { status } of responses) {
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([status, times]) => `${times} x ${status}`)
    .join(', ');
}

/** One request succeeded, and all others got the error. @returns the successful response */
export function assertOneWon(
  responses: readonly TestResponse[],
  won: number,
  lost: number,
  type: string,
): TestResponse {
  const others = responses.length - 1;
  const expected = [`1 x ${won}`, `${others} x ${lost}`];
  assert.equal(tally(responses), (won < lost ? expected : expected.reverse()).join(', '));
  for (const response of responses.filter(({ status }) => status !== won)) {
    assertError(response, lost, type);
  }
  return responses.find(({ status }) => status === won) as TestResponse;
}

let names = 0;

/** A new name. */
export function newName(what = 'Cheese'): string {
  names += 1;
  return `${what} ${names}`;
}

/** A new cheese with its ETag. */
export async function newCheeseWithEtag(
  shops: Instances,
  more: object = {},
): Promise<{ id: number; etag: string }> {
  const body = { name: newName(), pricePerKg: 20, ...more };
  const response = await shops.request('POST', '/v2/cheeses', { as: shops.writer, body });
  assert.equal(response.status, 201, response.text);
  return { id: response.json.id, etag: response.headers.etag ?? '' };
}

/** Types and ids of the events of a subject, in order. */
export async function eventsOf(
  { all: [{ app }] }: Instances,
  subject: string,
): Promise<{ id: number; type: string }[]> {
  const rows = await app.database.all<{ id: number; type: string }>(
    sql`select id, type from event where subject = ${subject} order by id`,
  );
  return rows.map((row) => ({ ...row }));
}

/** A new username. */
export function newUsername(what = 'ada'): string {
  return newName(what).replace(' ', '-');
}

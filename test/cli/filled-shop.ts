/** A shop with data of every kind, for commands that read all of it. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { Engine } from '../../src/database/sql.ts';
import type { RawSettings } from '../../src/settings/config.ts';
import { secret } from '../context.ts';
import { testImage, uploaded } from '../files/images.ts';
import { openShop, type RequestOptions, type Shop } from '../helper.ts';
import { deleteCheese, orderOf, registerAndLogIn } from '../shop-verbs.ts';
import type { Environment } from './run.ts';

const shippingAddress = { street: 'Gasse 1', city: 'Bern', zipCode: '3011', country: 'CH' };

export interface FilledShop {
  readonly shop: Shop;
  /** Settings with which commands open the same shop. */
  readonly environment: Environment;
  /** A key that may place orders. */
  readonly orderer: string;
  /** Headers of a customer who is logged in. */
  readonly session: { readonly authorization: string };
  /** The id of an order in each status. */
  readonly orders: Readonly<Record<'placed' | 'approved' | 'shipped' | 'delivered' | 'cancelled', number>>;
  /** Two cheeses in two categories. The first has an image and is in open orders. */
  readonly cheeses: readonly [number, number];
  /** The URL of the image of the first cheese. */
  readonly imageUrl: string;
}

/** Sends a request that must succeed. */
export async function requestOk(
  shop: Shop,
  method: string,
  url: string,
  options: RequestOptions,
  // biome-ignore lint/suspicious/noExplicitAny: tests know what to expect in it.
): Promise<any> {
  const { status, text, json } = await shop.request(method, url, options);
  assert.ok(status < 300, `${method} ${url}: ${status} ${text}`);
  return json;
}

/** The settings of a shop, as environment variables for commands. */
export function environmentOf({ config }: Shop): Environment {
  return {
    CURD_DATA_DIR: config.dataDir,
    CURD_SECRET: config.secret,
    ...(config.database.engine === 'postgres' ? { CURD_DATABASE: config.database.url } : {}),
  };
}

/** Creates the shop through its API. */
export async function openFilledShop(
  t: TestContext,
  engine: Engine,
  settings: RawSettings = {},
  clock: Clock = systemClock,
): Promise<FilledShop> {
  const shop = await openShop(t, {
    engine,
    clock,
    settings: { CURD_SECRET: secret, CURD_APPROVAL_DELAY: '1h', ...settings },
  });
  const { app } = shop;
  const as = shop.writer;
  const context = app.contextOf('test');
  const make = async (name: string, more: object): Promise<number> =>
    (await requestOk(shop, 'POST', '/v2/cheeses', { as, body: { name, ...more } })).id;
  const hard = { category: { name: 'Hard' }, tags: [{ name: 'cow' }, { name: 'raw milk' }] };
  const comte = await make('Comté', { ...hard, pricePerKg: 41.5, origin: 'Jura' });
  const brie = await make('Brie', {
    category: { name: 'Soft' },
    tags: [{ name: 'goat' }],
    pricePerKg: 19.99,
  });
  const unpriced = await make('Käse ohne Preis', {});
  const doomed = await make('Stinking Bishop', { ...hard, pricePerKg: 30 });
  const renamed = await make('Old name', { ...hard, pricePerKg: 10 });
  await requestOk(shop, 'PUT', '/v2/cheeses', {
    as,
    body: { id: renamed, name: 'New name', status: 'sold' },
  });
  const { imageUrl } = await uploaded(shop, comte, await testImage(1));
  await uploaded(shop, brie, await testImage(1));
  await uploaded(shop, doomed, await testImage(2));

  const { headers: session } = await registerAndLogIn(shop, { username: 'ada' });
  const { headers: leaving } = await registerAndLogIn(shop, { username: 'bob' });
  const orderer = await shop.createKey({ scopes: ['write:orders'] });
  await requestOk(shop, 'POST', '/v2/discounts', {
    as: shop.admin,
    body: { code: 'SPRING', kind: 'free_delivery' },
  });
  const place = async (headers: Record<string, string>, ...ids: number[]): Promise<number> =>
    (
      await requestOk(shop, 'POST', '/v2/store/order', {
        as: orderer,
        headers,
        body: orderOf(
          ids.map((id) => [id, 3] as const),
          // Orders of Brie have a code.
          { shippingAddress, ...(ids.includes(brie) ? { discountCode: 'SPRING' } : {}) },
        ),
      })
    ).id;
  const placed = await place(session, comte, brie);
  await place({}, unpriced);
  await place({}, comte, comte);
  const approved = await place(session, comte);
  const shipped = await place({ ...session, 'idempotency-key': 'once' }, brie);
  const delivered = await place(session, comte, brie);
  const cancelled = await place(session, brie);
  await place({}, doomed);
  await place(leaving, comte, unpriced);
  const {
    orders: { service: orders },
  } = app;
  const allTransitions = [orders.approve, orders.ship, orders.deliver] as const;
  for (const [id, count] of [
    [approved, 1],
    [shipped, 2],
    [delivered, 3],
    [await place(leaving, brie), 3],
  ] as const) {
    for (const transition of allTransitions.slice(0, count)) {
      await transition(context, id);
    }
  }
  await requestOk(shop, 'DELETE', `/v2/store/order/${cancelled}`, { as: orderer });
  assert.equal((await deleteCheese(shop, doomed)).status, 204);
  await requestOk(shop, 'DELETE', '/v2/customer/bob', { headers: leaving });
  return {
    shop,
    environment: environmentOf(shop),
    orderer,
    session,
    orders: { placed, approved, shipped, delivered, cancelled },
    cheeses: [comte, brie],
    imageUrl,
  };
}

/** GET /store/orders: filters for operators, and both orders of the list. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newCustomer, newSession } from '../auth/holders.ts';
import { assertError, bern, onBothEngines, openShop, type Shop, testClock } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';

interface Known {
  readonly id: number;
  readonly customerId: number | null;
  readonly placedBy: string;
  readonly needsApproval: boolean;
  readonly late: boolean;
  readonly status: string;
  readonly country: string;
  readonly cheeseId: number;
}

/** All orders of a query, over pages of three, each with the same total. */
async function walk(shop: Shop, query: string): Promise<{ ids: number[]; totals: number[] }> {
  const [ids, totals]: [number[], number[]] = [[], []];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { json, text, status } = await shop.request('GET', `/v2/store/orders?limit=3&${query}${next}`, {
      as: shop.reader,
    });
    assert.equal(status, 200, text);
    ids.push(...json.items.map(({ id }: { id: number }) => id));
    totals.push(json.total);
    cursor = json.nextCursor;
  }
  return { ids, totals: [...new Set(totals)] };
}

onBothEngines('GET /store/orders', (engine) => {
  test('GET /store/orders returns exactly the orders that a scan of all orders finds, in both orders', async (t) => {
    const clock = testClock();
    const settings = { CURD_SHIPPING_TIME: '1h' };
    const shop = await openShop(t, { engine, clock, settings });
    const keys = [
      await shop.createKey({ scopes: ['write:orders'] }),
      await shop.createKey({ scopes: ['admin'] }),
    ];
    const customers: (number | null)[] = [
      null,
      await newCustomer(shop, 'ada', 'customer'),
      await newCustomer(shop, 'bob', 'customer'),
    ];
    const sessions = await Promise.all(customers.map((id) => (id === null ? null : newSession(shop, id))));
    const priced = await newCheese(shop, { name: 'Priced' });
    const free = await newCheese(shop, { name: 'Free', pricePerKg: undefined });
    const names = await Promise.all(
      keys.map(async (as) => (await shop.request('GET', '/v2/whoami', { as })).json.id as string),
    );
    const known: Known[] = [];
    for (let index = 0; index < 24; index += 1) {
      const [key, who] = [index % 2, index % 3];
      const session = sessions[who];
      const needsApproval = index % 4 === 1;
      const country = index % 5 === 0 ? 'LI' : 'CH';
      const cheeseId = needsApproval ? free : priced;
      const { json, text } = await shop.request('POST', '/v2/store/order', {
        as: keys[key] as string,
        headers: session == null ? {} : { authorization: `Bearer ${session}` },
        body: {
          items: [{ cheeseId, quantity: 1 }],
          // What looks like a country in another field is none.
          shippingAddress: { ...bern, name: '"country":"FR"', street: ',"country":"FR"', country },
        },
      });
      assert.ok(json.id > 0, text);
      const verbs =
        [[], ['approve'], ['approve', 'ship', ...(index === 23 ? ['deliver'] : [])]][Math.floor(index / 8)] ??
        [];
      for (const verb of verbs) {
        const moved = await shop.request('POST', `/v2/store/order/${json.id}/${verb}`, { as: shop.admin });
        assert.equal(moved.status, 200, moved.text);
      }
      if (index === 11) {
        clock.advance(2 * 60 * 60_000);
      }
      known.push({
        id: json.id,
        customerId: customers[who] ?? null,
        placedBy: names[key] as string,
        needsApproval: needsApproval && verbs.length === 0,
        late: verbs.length === 1 && index <= 11,
        status: ['placed', 'approved', 'shipped', 'delivered'][verbs.length] as string,
        country,
        cheeseId,
      });
    }
    const queries: [string, (order: Known) => boolean][] = [
      ['', () => true],
      [`customerId=${customers[1]}`, ({ customerId }) => customerId === customers[1]],
      [`placedBy=${encodeURIComponent(names[1] ?? '')}`, ({ placedBy }) => placedBy === names[1]],
      ['placedBy=key:4711', () => false],
      ['needsApproval=true', ({ needsApproval }) => needsApproval],
      ['late=true', ({ late }) => late],
      ['country=li', ({ country }) => country === 'LI'],
      ['country=FR', () => false],
      [
        'country=CH&status=shipped,delivered',
        ({ country, status }) => country === 'CH' && ['shipped', 'delivered'].includes(status),
      ],
      [
        `country=LI&customerId=${customers[1]}`,
        (one) => one.country === 'LI' && one.customerId === customers[1],
      ],
      [`cheeseId=${free}`, ({ cheeseId, status }) => cheeseId === free && status !== 'delivered'],
      [`cheeseId=${priced}`, ({ cheeseId, status }) => cheeseId === priced && status !== 'delivered'],
      [`cheeseId=${priced}&status=delivered`, () => false],
      [
        `cheeseId=${priced}&country=LI&status=approved`,
        (one) => one.cheeseId === priced && one.country === 'LI' && one.status === 'approved',
      ],
      ['cheeseId=4711', () => false],
      ['late=true&needsApproval=true', () => false],
      ['late=true&status=approved', ({ late }) => late],
      ['status=shipped', ({ status }) => status === 'shipped'],
      [
        `customerId=${customers[2]}&placedBy=${names[0]}&late=true`,
        ({ customerId, placedBy, late }) => late && customerId === customers[2] && placedBy === names[0],
      ],
    ];
    for (const [query, matches] of queries) {
      const expected = known.filter(matches).map(({ id }) => id);
      for (const [sort, ids] of [
        ['', expected.toReversed()],
        ['&sort=-createdAt', expected.toReversed()],
        ['&sort=createdAt', expected],
      ] as const) {
        assert.deepEqual(await walk(shop, query + sort), { ids, totals: [ids.length] }, query + sort);
      }
    }
    assert.ok(known.some(({ late }) => late) && known.some(({ needsApproval }) => needsApproval));
    const asAda = { as: shop.reader, headers: { authorization: `Bearer ${sessions[1]}` } };
    for (const query of [`customerId=${customers[1]}`, 'placedBy=key:1', 'country=CH', 'cheeseId=1']) {
      assertError(await shop.request('GET', `/v2/store/orders?${query}`, asAda), 403, 'forbidden');
    }
    const late = await shop.request('GET', '/v2/store/orders?late=true', asAda);
    assert.equal(late.json.total, known.filter((one) => one.late && one.customerId === customers[1]).length);
    for (const query of [
      'late=false',
      'needsApproval=yes',
      'sort=id',
      'customerId=0',
      'customerId=9223372036854775807',
      `placedBy=${'x'.repeat(121)}`,
      'placedBy=%00',
      'country=XX',
      'country=Switzerland',
      'cheeseId=0',
      'country=CH&placedBy=key:1',
    ]) {
      assertError(
        await shop.request('GET', `/v2/store/orders?${query}`, { as: shop.reader }),
        400,
        'bad_request',
      );
    }
    const { json } = await shop.request('GET', '/v2/store/orders?limit=1&sort=createdAt', {
      as: shop.reader,
    });
    const other = `/v2/store/orders?cursor=${json.nextCursor}&sort=-createdAt`;
    assertError(await shop.request('GET', other, { as: shop.reader }), 400, 'bad_request');
  });
});

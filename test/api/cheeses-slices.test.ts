/** Lists that test many cheeses are read in slices, with other requests in between. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Cheese, CheeseInput } from '../../src/cheeses/schemas.ts';
import { type Engine, type Statement, sql } from '../../src/database/sql.ts';
import { onBothEngines, openShop, type Scope, type Shop, shared, type TestResponse } from '../helper.ts';
import { countTurns } from '../turns.ts';

const size = 10_100;
const manyTags = Array.from({ length: 1500 }, (_, index) => `t${index}`);
/** Tags of one cheese in 20. */
const fewTags = ['rare', ...manyTags.slice(0, 40)];

/** Half of the cheeses have the tag cow, half have goat, and 20 have both. The order by name differs from that of ids. */
const inputs = Array.from(
  { length: size },
  (_, index): CheeseInput => ({
    name: `Cheese Alp ${(index * 7919) % size}`,
    status: index % 700 === 699 ? 'sold' : 'available',
    pricePerKg: index % 97,
    tags: [
      ...(index < size / 2 + 10 ? ['cow'] : []),
      ...(index >= size / 2 - 10 ? ['goat'] : []),
      ...(index % 1000 === 999 ? ['rare'] : []),
      `t${index % 1500}`,
      `t${(index * 31) % 1500}`,
    ].map((name) => ({ name })),
  }),
);

async function openFilled(t: Scope, engine: Engine) {
  const shop = await openShop(t, { engine });
  await shop.app.services.cheeses.import(shop.app.services.contextOf('test'), inputs, new Set());
  return shop;
}

/** Statements that read while `work` runs: their text, rows, and the turn of the event loop in which each began. */
async function readsDuring(shop: Shop, work: () => Promise<unknown>) {
  const { database } = shop.app.services;
  const { all, get } = database;
  const reads: { text: string; rows: number; turn: number }[] = [];
  using turns = countTurns();
  Object.assign(database, {
    all: async (statement: Statement) => {
      const { turn } = turns;
      const rows = await all(statement);
      reads.push({ text: statement.render('sqlite').text, rows: rows.length, turn });
      return rows;
    },
    get: async (statement: Statement) => {
      reads.push({ text: statement.render('sqlite').text, rows: 1, turn: turns.turn });
      return get(statement);
    },
  });
  try {
    await work();
  } finally {
    Object.assign(database, { all, get });
  }
  return reads;
}

const turnsOf = (reads: readonly { turn: number }[]) => new Set(reads.map(({ turn }) => turn)).size;
const namesOf = (cheeses: readonly { name: string }[]) => cheeses.map(({ name }) => name);
const isTagged = (one: CheeseInput, ...tags: string[]) =>
  tags.every((tag) => one.tags?.some(({ name }) => name === tag));

const hasOneOfFew = (one: CheeseInput) => fewTags.some((tag) => isTagged(one, tag));

/** All cheeses of a list, page by page, and the totals of the pages. */
async function pages(shop: Shop, query: string): Promise<{ items: Cheese[]; totals: Set<number> }> {
  const items: Cheese[] = [];
  const totals = new Set<number>();
  const limit = /limit=\d+/.exec(query)?.[0];
  for (let next: string | null = query; next !== null; ) {
    const { status, json, text } = await shop.request('GET', `/v2/cheeses?${next}`, { as: shop.reader });
    assert.equal(status, 200, text);
    items.push(...json.items);
    totals.add(json.total);
    next = json.nextCursor === null ? null : `${limit}&cursor=${json.nextCursor}`;
  }
  return { items, totals };
}

onBothEngines('A shop with many cheeses', (engine) => {
  const opened = shared((t) => openFilled(t, engine));
  suite('A list that tests many cheeses', () => testLists(engine, opened));
  // Deletes a cheese at its end.
  suite('GET /cheeses/findByTags with thousands of tags', () => testFindByTags(opened));
});

function testLists(engine: Engine, opened: () => Shop): void {
  test('contains every match once, in the order of each sort, and the exact total', async () => {
    const lists: readonly (readonly [query: string, matches: (one: CheeseInput) => boolean])[] = [
      ['tagsAll=cow,goat', (one) => isTagged(one, 'cow', 'goat')],
      [
        'minPrice=5&maxPrice=5.5&tags=cow',
        ({ pricePerKg, ...one }) => pricePerKg === 5 && isTagged(one, 'cow'),
      ],
      ['tagsAll=cow,goat&q=cheese%20alp', (one) => isTagged(one, 'cow', 'goat')],
      ['tags=cow,goat&status=sold', (one) => one.status === 'sold'],
      [
        'tagsAll=cow&tags=rare,goat&q=alp',
        (one) => isTagged(one, 'cow') && (isTagged(one, 'goat') || isTagged(one, 'rare')),
      ],
    ];
    for (const [query, matches] of lists) {
      const byId = namesOf(inputs.filter(matches));
      const byName = byId.toSorted();
      const expectations = [
        ['name', byName],
        ['-name', byName.toReversed()],
        ['createdAt', byId],
        ['-createdAt', byId.toReversed()],
      ] as const;
      for (const [sort, expected] of expectations) {
        const { items, totals } = await pages(opened(), `${query}&sort=${sort}&limit=9`);
        assert.deepEqual(namesOf(items), expected, `${query} ${sort}`);
        assert.deepEqual([...totals], [expected.length], `${query} ${sort}`);
      }
    }
  });

  test('reads each page of one filter along the index of its order', async () => {
    const { database } = opened().app.services;
    const { get } = database;
    if (engine === 'postgres') {
      await database.run(sql`analyze cheese_term`);
    }
    const order = { pricePerKg: 'price', ageMonths: 'age', name: 'name' } as const;
    for (const [sort, column] of Object.entries(order)) {
      for (const direction of ['', '-']) {
        const statements: Statement[] = [];
        const query = `/v2/cheeses?tags=cow&sort=${direction}${sort}&limit=7`;
        const first = await opened().request('GET', query, { as: opened().reader });
        database.get = (statement) => {
          statements.push(statement);
          return get(statement);
        };
        const { nextCursor } = first.json;
        await opened().request('GET', `/v2/cheeses?limit=7&cursor=${nextCursor}`, { as: opened().reader });
        database.get = get;
        const page = statements.find((one) => one.render(engine).text.includes('string_agg')) as Statement;
        const plan = await database.all<Record<string, string>>(
          engine === 'sqlite' ? sql`explain query plan ${page}` : sql`explain ${page}`,
        );
        const text = plan.map((row) => row.detail ?? row['QUERY PLAN']).join('\n');
        assert.match(text, new RegExp(`INDEX .*cheese_term_by_${column} `, 'i'), text);
      }
    }
  });

  test('is read and counted in several turns of the event loop on SQLite', async () => {
    if (engine !== 'sqlite') {
      return;
    }
    for (const [query, turns] of [
      ['tagsAll=cow,goat&limit=30', 3],
      ['tags=cow,goat&q=cheese&limit=30', 2],
      ['q=cheese%20alp&limit=30', 2],
    ] as const) {
      const reads = await readsDuring(opened(), async () => {
        const { status } = await opened().request('GET', `/v2/cheeses?${query}`, { as: opened().reader });
        assert.equal(status, 200);
      });
      assert.ok(turnsOf(reads) >= turns, `${query}: ${turnsOf(reads)} turns`);
    }
  });

  test('reads one slice of all lists in a turn on SQLite, and counts a total once for requests at the same time', async () => {
    if (engine !== 'sqlite') {
      return;
    }
    const countsOf = async (...queries: string[]) => {
      const reads = await readsDuring(opened(), () =>
        Promise.all(
          queries.map((query) =>
            opened().request('GET', `/v2/cheeses?tagsAll=cow,goat&${query}`, { as: opened().reader }),
          ),
        ),
      );
      return reads.filter(({ text }) => text.includes('intersect'));
    };
    const two = await countsOf('minPrice=1', 'minPrice=2');
    assert.equal(two.length, 4);
    assert.equal(turnsOf(two), 4);
    assert.equal((await countsOf('minPrice=3', 'minPrice=3&limit=5')).length, 2);
  });

  test('does not test names for words that are beginnings of another word', async () => {
    const reads = await readsDuring(opened(), async () => {
      const { json } = await opened().request('GET', '/v2/cheeses?q=ch%20cheese%20c%20chee', {
        as: opened().reader,
      });
      assert.equal(json.total, size);
    });
    assert.deepEqual(
      reads.filter(({ text }) => / like /.test(text)),
      [],
    );
  });
}

function testFindByTags(opened: () => Shop): void {
  const find = (tags: readonly string[], more = '') =>
    opened().request('GET', `/v2/cheeses/findByTags?tags=${tags.join()}${more}`, { as: opened().writer });

  test('reads matches in bounded parts, each in a separate turn of the event loop', async () => {
    for (const [tags, expected] of [
      [manyTags, namesOf(inputs)],
      [fewTags, namesOf(inputs.filter(hasOneOfFew))],
    ] as const) {
      let response: TestResponse | undefined;
      const reads = await readsDuring(opened(), async () => {
        response = await find(tags);
      });
      assert.deepEqual(namesOf(response?.json), expected);
      assert.equal(
        reads.filter(({ text }) => text.includes('join term_count')).length,
        1,
        'finds the tags once',
      );
      const found = reads.filter(({ text, rows }) => rows > 1 && !text.includes('join term_count'));
      assert.equal(turnsOf(found), found.length, 'other requests are served in between');
      for (const { rows } of found) {
        assert.ok(rows <= 8001, `${rows} rows at once`);
      }
    }
  });

  test('finds each page in ranges of ids, each in a separate turn of the event loop', async () => {
    const names: string[] = [];
    let url: string | undefined = `/v2/cheeses/findByTags?tags=${fewTags.join()}&limit=60`;
    while (url !== undefined) {
      const page: string = url;
      const reads = await readsDuring(opened(), async () => {
        const { json, headers } = await opened().request('GET', page, { as: opened().writer });
        names.push(...namesOf(json));
        url = /<([^>]+)>; rel="next"/.exec(headers.link ?? '')?.[1];
      });
      assert.ok(url === undefined || turnsOf(reads) > 3, `${turnsOf(reads)} turns`);
    }
    assert.deepEqual(names, namesOf(inputs.filter(hasOneOfFew)));
  });

  test('fills the page and links to the next when a match is deleted while the page is read', async () => {
    const { database, cheeses, contextOf } = opened().app.services;
    const { all } = database;
    let deleted: number | undefined;
    Object.assign(database, {
      all: async (statement: Statement) => {
        const rows = await all<Record<string, number>>(statement);
        if (deleted === undefined && rows[0] !== undefined && Object.keys(rows[0]).join() === 'id') {
          deleted = rows[0].id ?? 0;
          await cheeses.delete(contextOf('test'), deleted);
        }
        return rows;
      },
    });
    try {
      const { json, headers } = await find(manyTags, '&limit=10');
      assert.equal(json.length, 10);
      assert.ok(json.every(({ id }: Cheese) => id !== deleted));
      assert.match(headers.link ?? '', /rel="next"/);
    } finally {
      Object.assign(database, { all });
    }
    assert.notEqual(deleted, undefined);
  });
}

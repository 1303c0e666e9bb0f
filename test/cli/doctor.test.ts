/** "curd doctor": no findings for a consistent shop, and for every inconsistency a finding with a remedy. */
import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkCatalogue } from '../../src/cheeses/consistency-check.ts';
import { checkPrices } from '../../src/cheeses/prices/consistency-check.ts';
import { systemClock, timestamp } from '../../src/clock.ts';
import type { Finding } from '../../src/database/checks/findings.ts';
import { checkTransactionIds } from '../../src/database/checks/transaction-ids.ts';
import type { Database } from '../../src/database/database.ts';
import { type Statement, sql } from '../../src/database/sql.ts';
import { checkEventLog } from '../../src/event-log/consistency-check.ts';
import { openFiles } from '../../src/files/open.ts';
import { checkImages } from '../../src/images/consistency-check.ts';
import { checkCredits, checkOrders } from '../../src/orders/consistency-check.ts';
import { checkUses } from '../../src/orders/discount-check.ts';
import { secret } from '../context.ts';
import { nameOf, testImage, uploaded } from '../files/images.ts';
import { createDatabase, engines, until } from '../helper.ts';
import { type FilledShop, openFilledShop } from './filled-shop.ts';
import { assertRefused, createStock, curd, freshShop, type Run } from './run.ts';

interface Result {
  readonly check: string;
  readonly findings: readonly Finding[];
}

const checks = [
  'settings',
  'clock',
  'database',
  'catalogue',
  'prices',
  'images',
  'stock',
  'orders',
  'discounts',
  'customers',
  'statistics',
  'instances',
  'events',
  'webhooks',
];

/** Statements that make a shop inconsistent, with the expected example and remedy. */
function faultsOf({ orders, cheeses }: FilledShop): [Statement, RegExp, RegExp][] {
  const { placed, approved, delivered, cancelled } = orders;
  const [comte, brie] = cheeses;
  const cow = sql`(select id from term where kind = 'tag' and name = 'cow')`;
  const repair = /--repair/;
  const restore = /restore a backup/;
  const ofOrder = (id: number, more = '') => new RegExp(`order ${id}\\b${more}`);
  return [
    [sql`update cheese set status = 'sold' where id = ${brie}`, new RegExp(`cheese ${brie}\\b`), restore],
    [sql`update cheese set category_id = 999 where id = ${brie}`, new RegExp(`cheese ${brie}\\b`), restore],
    [sql`update cheese set name_key = 'x' where id = ${brie}`, new RegExp(`cheese ${brie}\\b`), restore],
    [sql`update cheese set body = '{' where id = ${brie}`, new RegExp(`cheese ${brie}\\b`), restore],
    [sql`update term set name = 'bull' where id = ${cow}`, new RegExp(`cheese ${comte}\\b`), restore],
    [sql`delete from term where id = ${cow}`, new RegExp(`cheese ${comte}\\b`), restore],
    [sql`update catalogue set cheeses = cheeses + 1`, /\d+ instead of \d+/, restore],
    [sql`update catalogue set last_cheese_id = 1`, /cheese 5 is beyond the last id, 1/, restore],
    [
      sql`update cheese_price set price = price + 1 where cheese_id = ${brie}`,
      new RegExp(`cheese ${brie}: `),
      /back/,
    ],
    [
      sql`delete from cheese_price where cheese_id = ${comte}`,
      new RegExp(`cheese ${comte}: no price`),
      /back/,
    ],
    [sql`insert into cheese_price (cheese_id, since) values (777, '')`, /^cheese 777$/, restore],
    [sql`update orders set total_cents = total_cents + 1 where id = ${placed}`, ofOrder(placed), restore],
    [
      sql`update orders set status = 'shipped' where id = ${placed}`,
      ofOrder(placed, ': placed; now shipped'),
      restore,
    ],
    [sql`delete from event where subject = ${`order:${approved}`}`, ofOrder(approved), restore],
    [
      sql`delete from event where type = 'order.shipped' and subject = ${`order:${delivered}`}`,
      ofOrder(delivered),
      restore,
    ],
    [sql`update orders set items = '[' where id = ${placed}`, ofOrder(placed), restore],
    [sql`delete from background_job where key = ${String(placed)}`, ofOrder(placed), /curd orders approve/],
    [sql`delete from open_order_cheese where order_id = ${approved}`, ofOrder(approved), restore],
    [
      sql`insert into open_order_cheese (cheese_id, order_id) values (${comte}, 777)`,
      ofOrder(777, ', which does not exist'),
      restore,
    ],
    [
      sql`insert into open_order_cheese (cheese_id, order_id) values (${comte}, ${cancelled})`,
      ofOrder(cancelled),
      restore,
    ],
    [
      sql`insert into background_job (kind, key, due_at) values ('order.approval', ${String(approved)}, '')`,
      ofOrder(approved),
      /delete these rows/,
    ],
    [
      sql`insert into background_job (kind, key, due_at) values ('order.approval', '777', '')`,
      ofOrder(777),
      /delete these rows/,
    ],
    [
      sql`update background_job set parked_at = '', last_error = 'no disk' where key = ${String(placed)}`,
      ofOrder(placed, ': no disk'),
      /remove the cause, then approve, ship, deliver or cancel them: "npx curd orders approve <id>"/,
    ],
    [
      sql`update order_count set placed = placed + 1 where owner = '*' and day = ''`,
      /^\*, all days$/,
      repair,
    ],
    [sql`delete from order_count where owner = '*' and day <> ''`, /^\*, 2/, repair],
    [sql`update order_count set cancelled = 0 where owner = 'customer:1'`, /^customer:1, 2/, repair],
    [
      sql`insert into order_count_change (day, placed_by, new_status) values ('2026-01-01', 'key:9', 'placed')`,
      /^key:9, 2026-01-01$/,
      repair,
    ],
    [sql`update discount set used = used + 1`, /^SPRING: 5 instead of 4$/, repair],
    [sql`delete from discount_use where order_id = ${placed}`, ofOrder(placed), repair],
    [sql`insert into discount_use (order_id, discount_id) values (777, 1)`, ofOrder(777), repair],
    [
      sql`insert into discount_use (order_id, discount_id) values (${cancelled}, 1)`,
      ofOrder(cancelled),
      repair,
    ],
    [
      sql`update customer set delivered_cents = delivered_cents + 1 where username = 'ada'`,
      /customer 1\b/,
      /correct delivered_cents/,
    ],
    [
      sql`update orders set customer_id = null where id = ${delivered}`,
      /customer 1\b/,
      /correct delivered_cents/,
    ],
    [
      sql`update image_file set since = '2020-01-01T00:00:00.000Z' where state = 'pending'`,
      /[0-9a-f]{64}\.png/,
      /run a server for some minutes/,
    ],
    [sql`delete from event where sequence = 2`, /^2 is missing/, repair],
    [sql`delete from event where sequence = 1`, /^1 is missing/, repair],
    [sql`update event_log set last = last - 1`, /\d+ is above \d+, the last number/, restore],
    [
      sql`update event set sequence = null, created_at = '2020-01-01T00:00:00.000Z' where sequence = 3`,
      /^event row \d+ of 2020/,
      /start a server/,
    ],
  ];
}

const aside = new Error('put back');

/** The findings after a statement, which is then rolled back. */
async function findingsAfter(database: Database, filled: FilledShop, fault: Statement): Promise<Finding[]> {
  const files = await openFiles(filled.shop.config, systemClock);
  let found: Finding[] = [];
  const trying = database.transaction(async (tx) => {
    assert.ok((await tx.run(fault)) > 0, fault.render('sqlite').text);
    found = [
      ...(await checkCatalogue(tx)),
      ...(await checkPrices(tx)),
      ...(await checkOrders(tx)),
      ...(await checkUses(tx)),
      ...(await checkCredits(tx)),
      ...(await checkEventLog(tx, systemClock.now())),
      ...(await checkImages(tx, files, systemClock.now())),
    ];
    throw aside;
  });
  await assert.rejects(trying, aside);
  return found;
}

function assertFound(found: readonly Finding[], example: RegExp, remedy: RegExp, note: string): void {
  const mine = found.find(
    (one) => remedy.test(one.remedy) && one.examples.some((text) => example.test(text)),
  );
  assert.ok(mine !== undefined, `${note}: ${JSON.stringify(found)}`);
  assert.ok(mine.count >= mine.examples.length && mine.examples.length <= 5 && mine.fault.length > 10);
}

for (const engine of engines) {
  test(`A shop that is checked (${engine})`, async (look) => {
    const filled = await openFilledShop(look, engine);
    const { shop, environment, cheeses, orders } = filled;
    const { database } = shop.app;
    const lost = nameOf(filled.imageUrl);

    await look.test(
      'A shop that is checked has no findings after changes of every kind, while a server runs',
      async () => {
        const stdout = checks.map((check) => `ok      ${check}\n`).join('');
        assert.deepEqual(await curd(environment, 'doctor'), { code: 0, stdout, stderr: '' });
      },
    );

    await look.test(
      'A shop that is checked gets a finding with a remedy for each inconsistency',
      async () => {
        await shop.app.orders.counter.run();
        for (const [fault, example, remedy] of faultsOf(filled)) {
          const found = await findingsAfter(database, filled, fault);
          assertFound(found, example, remedy, fault.render('sqlite').text);
        }
      },
    );

    await look.test('A shop that is checked gets a note where transaction ids are not freed', async () => {
      assert.deepEqual(await database.snapshot((tx) => checkTransactionIds(tx)), []);
      const found = await database.snapshot((tx) => checkTransactionIds(tx, 2));
      assert.deepEqual(
        found.map(({ isNote }) => isNote),
        engine === 'postgres' ? [true] : [],
      );
      for (const { examples, remedy } of found) {
        assert.match(examples.join(), /^the oldest transaction id is \d+ million ids old; at 2100 million, /);
        assert.match(remedy, /docs\/operations\.md/);
      }
    });

    await look.test('A shop that is checked gets a text for each finding and exit status 2', async () => {
      await database.run(sql`update catalogue set cheeses = 77`);
      await database.run(sql`update discount set used = 9`);
      await database.run(sql`delete from discount_use where order_id = ${orders.placed}`);
      await database.run(
        sql`insert into discount_use (order_id, discount_id) values (${orders.cancelled}, 1)`,
      );
      await database.run(sql`update orders set total_cents = 1 where id = ${orders.placed}`);
      await database.run(sql`update order_count set delivered = 77`);
      const images = join(shop.config.dataDir, 'images');
      await rm(join(images, lost.slice(0, 2), lost));
      await mkdir(join(images, 'zz'));
      await writeFile(join(images, 'zz', 'zz-strange.png'), '');
      // Some systems create such a file in every folder that is viewed.
      await writeFile(join(images, '.DS_Store'), '');
      const { code, stdout, stderr } = await curd(environment, 'doctor');
      assert.deepEqual([code, stderr], [2, '']);
      for (const words of [
        /^FAULT {3}catalogue: number of cheeses that differs from the cheeses \(1\)\n {8}77 instead of \d+\n {8}What to do: restore a backup/m,
        /^FAULT {3}orders: counts of orders that differ from the orders, by owner and day \(\d+\)$/m,
        new RegExp(
          `^FAULT {3}orders: orders whose total.* \\(1\\)\n {8}order ${orders.placed}\n {8}What to do: .+\\.$`,
          'm',
        ),
        new RegExp(
          `^FAULT {3}images: images with missing files \\(1\\)\n {8}${lost}\n {8}What to do: .+\\.$`,
          'm',
        ),
        /^note {4}images: files that belong to no image \(1\)\n {8}zz-strange.png\n {8}What to do: .+\.$/m,
        /^ok {6}customers$/m,
      ]) {
        assert.match(stdout, words);
      }
    });

    await look.test(
      'A shop that is checked is repaired except for a cheese that is not JSON, which is reported',
      async () => {
        const { database } = shop.app;
        const broken = sql`select body from cheese where id = ${cheeses[1]}`;
        const { body } = (await database.get<{ body: string }>(broken)) ?? {};
        await database.run(sql`update cheese set body = '{' where id = ${cheeses[1]}`);
        const { code, stdout, stderr } = await curd(environment, 'doctor', '--repair');
        assert.deepEqual([code, stderr], [2, '']);
        assert.match(stdout, new RegExp(`FAULT {3}catalogue[\\s\\S]*cheese ${cheeses[1]}\\b`));
        await database.run(sql`update cheese set body = ${body ?? ''} where id = ${cheeses[1]}`);
      },
    );

    await look.test(
      'A shop that is checked is repaired where data follows from its cheeses, and not elsewhere',
      async () => {
        const { code, stdout, stderr } = await curd(environment, 'doctor', '--repair', '--json');
        assert.deepEqual([code, stderr], [2, '']);
        const results = JSON.parse(stdout) as Result[];
        const count = (await database.all(sql`select id from cheese`)).length;
        assert.deepEqual(
          results.map(({ check }) => check),
          checks,
        );
        assert.deepEqual(
          results.flatMap(({ check, findings }) =>
            findings.map(({ count, examples }) => [check, count, ...examples]),
          ),
          [
            ['catalogue', 1, `77 instead of ${count}`],
            ['images', 1, lost],
            ['images', 1, 'zz-strange.png'],
            ['orders', 1, `order ${orders.placed}`],
          ],
        );
        // The server that was running meanwhile finds them again.
        const { json } = await shop.request('GET', '/v2/cheeses?tags=cow', { as: shop.reader });
        assert.deepEqual(
          json.items.map(({ id }: { id: number }) => id),
          [cheeses[0]],
        );
      },
    );
  });
}

suite('curd doctor', { concurrency: 2 }, () => {
  test('curd doctor continues when a cheese and an order are not JSON, and names them', async (t) => {
    const { shop, environment, orders, cheeses } = await openFilledShop(t, 'sqlite');
    const { database } = shop.app;
    await database.run(sql`update cheese set body = '{' where id = ${cheeses[1]}`);
    await database.run(sql`update orders set items = '[' where id = ${orders.placed}`);
    const { code, stdout, stderr } = await curd(environment, 'doctor');
    assert.deepEqual([code, stderr], [2, '']);
    assert.match(
      stdout,
      new RegExp(`^FAULT {3}catalogue: cheeses whose columns.*\n {8}cheese ${cheeses[1]}$`, 'm'),
    );
    assert.match(
      stdout,
      new RegExp(`^FAULT {3}orders: orders whose total.*\n {8}order ${orders.placed}$`, 'm'),
    );
  });

  test('curd doctor finds a damaged page of the database and advises to restore a backup', async (t) => {
    const environment = await freshShop(t, { CURD_SECRET: secret });
    await createStock(environment, { prices: [1, 2, 3], scopes: [] });
    spoilCheeses(join(environment.CURD_DATA_DIR ?? '', 'curd.sqlite'));
    const { code, stdout, stderr } = await curd(environment, 'doctor');
    assert.deepEqual([code, stderr], [2, '']);
    assert.match(stdout, /FAULT {3}database[\s\S]*restore a backup/);
  });

  test('curd doctor reports no image that is uploaded during the check', async (t) => {
    const { shop, environment, cheeses } = await openFilledShop(t, 'sqlite');
    let isOver = false;
    let uploads = 0;
    async function uploadOnAndOn(): Promise<void> {
      while (!isOver) {
        await uploaded(shop, cheeses[0], await testImage(100 + uploads));
        uploads += 1;
        await sleep(5);
      }
    }
    const uploading = uploadOnAndOn();
    const runs = [await curd(environment, 'doctor'), await curd(environment, 'doctor')];
    isOver = true;
    await uploading;
    assert.ok(uploads > 0, 'no upload ran during the check');
    for (const { code, stdout, stderr } of runs) {
      assert.deepEqual([code, stderr], [0, ''], stdout);
    }
  });

  test('curd doctor that reads for long reports no event that got its number after the check began', async (t) => {
    const { shop, environment } = await openFilledShop(t, 'postgres');
    const { database } = shop.app;
    // 56 seconds old when the check begins, and more than 60 when it comes to the events.
    const createdAt = Date.now() - 56_000;
    await database.run(sql`
      insert into event (type, subject, actor, data, created_at)
      values ('cheese.created', 'cheese:777', 'cli', '{}', ${timestamp(createdAt)})`);
    let run: Promise<Run> | undefined;
    await database.exclusiveTransaction(async (tx, runScript) => {
      await runScript('lock table orders');
      run = curd(environment, 'doctor', '--no-record');
      await until(async () => (await tx.all(sql`select 1 from pg_locks where not granted`)).length > 0);
      assert.ok(Date.now() < createdAt + 59_000, 'the check has begun too late for this test');
      await sleep(createdAt + 60_500 - Date.now());
    });
    const stdout = checks.map((check) => `ok      ${check}\n`).join('');
    assert.deepEqual(await run, { code: 0, stdout, stderr: '' });
  });

  test('curd doctor refuses when there is no shop, and creates none', async (t) => {
    const environment = await freshShop(t);
    const run = await curd(environment, 'doctor');
    assertRefused(run, /no database at .*curd\.sqlite\. Start the server first/);
    assert.deepEqual(await readdir(environment.CURD_DATA_DIR ?? ''), []);
  });

  test('curd doctor finds unsafe settings of a production shop', async (t) => {
    const environment = await freshShop(t, {
      CURD_SECRET: secret,
      CURD_DATABASE: await createDatabase(t, 'template_curd'),
      CURD_ENVIRONMENT: 'production',
      CURD_PUBLIC_URL: 'https://shop.example',
    });
    const run = await curd(environment, 'doctor', '--json');
    assert.equal(run.code, 2);
    const [settings] = JSON.parse(run.stdout) as Result[];
    assert.equal(settings?.findings[0]?.count, 1);
    assert.match(String(settings?.findings[0]?.examples), /CURD_TRUSTED_PROXIES/);
  });
});

/** Overwrites the first page of the table of cheeses with random bytes. */
function spoilCheeses(file: string): void {
  const database = new DatabaseSync(file);
  const root = database.prepare("select rootpage from sqlite_schema where name = 'cheese'").get();
  const size = Number(database.prepare('pragma page_size').get()?.page_size);
  database.close();
  const descriptor = openSync(file, 'r+');
  const nonsense = randomFillSync(Buffer.alloc(size));
  writeSync(descriptor, nonsense, 0, size, (Number(root?.rootpage) - 1) * size);
  closeSync(descriptor);
}

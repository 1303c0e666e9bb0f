/** What "curd doctor" says of a shop: nothing of one that is well, and of every other what is wrong and what to do. */
import assert from 'node:assert/strict';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { inspectImages } from '../../src/cheeses/image-inspection.ts';
import { inspectCatalogue } from '../../src/cheeses/inspection.ts';
import { systemClock } from '../../src/clock.ts';
import { inspectCustomers } from '../../src/customers/inspection.ts';
import type { Database } from '../../src/database/database.ts';
import type { Finding } from '../../src/database/inspection.ts';
import { type Statement, sql } from '../../src/database/sql.ts';
import { openFiles } from '../../src/files/files.ts';
import { inspectOrders } from '../../src/orders/inspection.ts';
import { nameOf } from '../files/photos.ts';
import { onBothEngines } from '../helper.ts';
import { type Life, liveOn } from './life.ts';
import { assertRefused, curd, freshShop } from './run.ts';

interface Result {
  readonly check: string;
  readonly findings: readonly Finding[];
}

const checks = ['settings', 'clock', 'database', 'catalogue', 'orders', 'customers', 'pictures'];

/** Each way of breaking a shop by hand, with what is said of it. */
function faultsOf({ orders, cheeses }: Life): [Statement, RegExp, RegExp][] {
  const { placed, approved, delivered, cancelled } = orders;
  const [comte, brie] = cheeses;
  const cow = sql`(select id from term where kind = 'tag' and name = 'cow')`;
  const repair = /--repair/;
  const restore = /restore a backup/;
  const told = (id: number, more = '') => new RegExp(`order ${id}\\b${more}`);
  return [
    [sql`update cheese set status = 'sold' where id = ${brie}`, new RegExp(`cheese ${brie}\\b`), restore],
    [sql`update cheese set name = 'Bree' where id = ${brie}`, new RegExp(`cheese ${brie}\\b`), restore],
    [
      sql`update term_count set cheeses = cheeses + 1 where term_id = ${cow}`,
      /tag cow available: 2 instead of 1/,
      repair,
    ],
    [sql`delete from term_count where term_id = 0`, /catalogue {2}available: 0 instead of 3/, repair],
    [
      sql`delete from cheese_term where cheese_id = ${comte} and term_id = ${cow}`,
      /tag cow available: 0 inst/,
      repair,
    ],
    [
      sql`update cheese_term set name = 'Comtesse' where cheese_id = ${comte}`,
      new RegExp(`cheese ${comte}\\b`),
      repair,
    ],
    [
      sql`update cheese_term set status = 'sold' where cheese_id = ${comte} and term_id = ${cow}`,
      /cow sold/,
      repair,
    ],
    [
      sql`insert into cheese_term (term_id, cheese_id, name, status) values (${cow}, 999, 'Ghost', 'sold')`,
      /cheese 999/,
      repair,
    ],
    [sql`update catalogue set last_cheese_id = 1`, /cheese 5 is beyond the last id, 1/, restore],
    [sql`update orders set total_cents = total_cents + 1 where id = ${placed}`, told(placed), restore],
    [
      sql`update orders set status = 'shipped' where id = ${placed}`,
      told(placed, ': placed; now shipped'),
      restore,
    ],
    [sql`delete from event where subject = ${`order:${approved}`}`, told(approved), restore],
    [
      sql`delete from event where type = 'order.shipped' and subject = ${`order:${delivered}`}`,
      told(delivered),
      restore,
    ],
    [sql`delete from open_order_cheese where order_id = ${approved}`, told(approved), restore],
    [
      sql`insert into open_order_cheese (cheese_id, order_id) values (${comte}, ${cancelled})`,
      told(cancelled),
      restore,
    ],
    [sql`insert into job (order_id, due_at) values (${approved}, '')`, told(approved), /delete these rows/],
    [sql`insert into job (order_id, due_at) values (777, '')`, told(777), /delete these rows/],
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
      /let a server run/,
    ],
  ];
}

const aside = new Error('put back');

/** What is found after a change, which is then taken back. */
async function findingsAfter(database: Database, life: Life, fault: Statement): Promise<Finding[]> {
  const files = await openFiles(life.shop.config, systemClock);
  let found: Finding[] = [];
  const trying = database.transaction(async (tx) => {
    assert.ok((await tx.run(fault)) > 0, fault.render('sqlite').text);
    found = [
      ...(await inspectCatalogue(tx)),
      ...(await inspectOrders(tx)),
      ...(await inspectCustomers(tx)),
      ...(await inspectImages(tx, files, systemClock.now())),
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

onBothEngines('A shop that was looked over', (engine) => {
  test('is well after all that can happen to it, open or not, and every fault made by hand is named', async (t) => {
    const life = await liveOn(t, engine);
    const { database } = life.shop.app.services;
    const well = await curd(life.environment, 'doctor');
    assert.equal(well.stdout, checks.map((check) => `ok      ${check}\n`).join(''));
    assert.deepEqual([well.code, well.stderr], [0, '']);

    for (const [fault, example, remedy] of faultsOf(life)) {
      const found = await findingsAfter(database, life, fault);
      assertFound(found, example, remedy, fault.render('sqlite').text);
    }

    // What follows from the cheeses is mended when that is asked for, and nothing else.
    await database.run(sql`delete from cheese_term where cheese_id = ${life.cheeses[0]}`);
    await database.run(sql`update term_count set cheeses = 77 where term_id = 0`);
    await database.run(sql`update orders set total_cents = 1 where id = ${life.orders.placed}`);
    const images = join(life.shop.config.dataDir, 'images');
    const name = nameOf(life.imageUrl);
    await rm(join(images, name.slice(0, 2), name));
    await mkdir(join(images, 'zz'));
    await writeFile(join(images, 'zz', 'zz-strange.png'), '');
    const ill = await curd(life.environment, 'doctor');
    assert.deepEqual([ill.code, ill.stderr], [2, '']);
    for (const words of [
      /^FAULT {3}catalogue: counters that differ from the cheeses they count \(\d+\)\n {8}catalogue {2}available: 77 instead of 3\n(?: {8}.+\n)*? {8}What to do: run "curd doctor --repair"/m,
      /^FAULT {3}catalogue: cheeses that are filed elsewhere than they belong \(\d+\)$/m,
      new RegExp(
        `^FAULT {3}orders: orders whose total.* \\(1\\)\n {8}order ${life.orders.placed}\n {8}What to do: .+\\.$`,
        'm',
      ),
      new RegExp(
        `^FAULT {3}pictures: pictures whose files are gone \\(1\\)\n {8}${name}\n {8}What to do: .+\\.$`,
        'm',
      ),
      /^note {4}pictures: files that belong to no picture \(1\)\n {8}zz-strange.png\n {8}What to do: .+\.$/m,
      /^ok {6}customers$/m,
    ]) {
      assert.match(ill.stdout, words);
    }
    const mended = await curd(life.environment, 'doctor', '--repair', '--json');
    assert.deepEqual([mended.code, mended.stderr], [2, '']);
    const results = JSON.parse(mended.stdout) as Result[];
    assert.deepEqual(
      results.map(({ check }) => check),
      checks,
    );
    const faulty = results.filter(({ findings }) => findings.length > 0);
    assert.deepEqual(
      faulty.map(({ check }) => check),
      ['orders', 'pictures'],
    );
    assert.deepEqual(
      faulty.flatMap(({ findings }) => findings.map(({ count, examples }) => [count, ...examples])),
      [
        [1, `order ${life.orders.placed}`],
        [1, name],
        [1, 'zz-strange.png'],
      ],
    );
    // The server that was open all the time finds them again.
    const { json } = await life.shop.call('GET', '/v2/cheeses?tags=cow', { as: life.shop.reader });
    assert.deepEqual(
      json.items.map(({ id }: { id: number }) => id),
      [life.cheeses[0]],
    );
  });
});

suite('A shop that is not there', () => {
  test('is not looked over, nor made', async (t) => {
    const environment = await freshShop(t, { CURD_SECRET: 'a secret that is only good for tests' });
    assertRefused(
      await curd(environment, 'doctor'),
      /no database at .*curd\.sqlite: nothing to look over yet/,
    );
    assert.deepEqual(await readdir(environment.CURD_DATA_DIR ?? ''), []);
  });

  test('is told from one whose settings its keeper might regret', async (t) => {
    const life = await liveOn(t, 'postgres');
    await rename(join(life.shop.config.dataDir, 'images'), join(life.shop.config.dataDir, 'elsewhere'));
    const production = { CURD_ENVIRONMENT: 'production', CURD_PUBLIC_URL: 'https://shop.example' };
    const run = await curd({ ...life.environment, ...production }, 'doctor', '--json');
    assert.equal(run.code, 2);
    const [settings] = JSON.parse(run.stdout) as Result[];
    assert.equal(settings?.findings[0]?.count, 2);
    assert.match(String(settings?.findings[0]?.examples), /CURD_TRUSTED_PROXIES.*CURD_IMAGES is a folder/);
  });
});

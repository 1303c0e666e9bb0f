/** What `curd doctor` finds in stock, and the remedies that it names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../src/database/checks/findings.ts';
import { type Statement, sql } from '../../src/database/sql.ts';
import { checkStock, recountStock } from '../../src/stock/consistency-check.ts';
import { onBothEngines, openShop, type Shop, shared } from '../helper.ts';
import { changeOrder, newCheese, newOrder } from '../shop-verbs.ts';
import { adjust, assertConsistent, putStock, trackedCheese, untrack } from './stock.ts';

const aside = new Error('put back');

/** The findings after a statement, which is then rolled back. */
async function findingsAfter({ app }: Shop, fault: Statement): Promise<Finding[]> {
  let found: Finding[] = [];
  const trying = app.database.transaction(async (tx) => {
    assert.ok((await tx.run(fault)) > 0, fault.render('sqlite').text);
    found = await checkStock(tx);
    throw aside;
  });
  await assert.rejects(trying, aside);
  return found;
}

onBothEngines('curd doctor', (engine) => {
  const opened = shared((t) => openShop(t, { engine }));

  test('curd doctor finds each inconsistency of stock, and notes what is missing after a loss', async () => {
    const shop = opened();
    const [id, free] = [await trackedCheese(shop, 50), await newCheese(shop)];
    const order = await newOrder(shop, [[id, 5]]);
    const shipped = await newOrder(shop, [[id, 2]]);
    await changeOrder(shop, shipped, 'approve');
    await changeOrder(shop, shipped, 'ship');
    await assertConsistent(shop);
    const again = /curd stock untrack/;
    const faults: [Statement, RegExp, RegExp][] = [
      [
        sql`update stock set reserved = reserved + 1000 where cheese_id = ${id}`,
        /: 6 kg instead of 5 kg/,
        again,
      ],
      [
        sql`update open_order_cheese set reserved = 4000 where order_id = ${order}`,
        new RegExp(`order ${order}, cheese ${id}: 4 kg instead of 5 kg`),
        again,
      ],
      [
        sql`update open_order_cheese set reserved = 2000 where order_id = ${shipped}`,
        new RegExp(`order ${shipped}, cheese ${id}`),
        again,
      ],
      [
        sql`delete from stock where cheese_id = ${id}`,
        new RegExp(`cheese ${id}: 0 kg instead of 5 kg`),
        again,
      ],
      [
        sql`update stock set set_sold = 1 where cheese_id = ${id}`,
        new RegExp(`cheese ${id}`),
        /set the status/,
      ],
      [sql`update cheese set tracked = 1 where id = ${free}`, new RegExp(`cheese ${free}`), again],
      [sql`update cheese set tracked = 0 where id = ${id}`, new RegExp(`cheese ${id}`), again],
      [sql`update stock_count set tracked = 7`, /7 instead of 1/, /--repair/],
      [
        sql`insert into background_job (kind, key, due_at, parked_at, last_error)
          values ('stock.status', ${String(id)}, '', '', 'no disk')`,
        new RegExp(`cheese ${id}: no disk`),
        /remove the cause/,
      ],
    ];
    for (const [fault, example, remedy] of faults) {
      const found = await findingsAfter(shop, fault);
      assert.ok(
        found.some((one) => remedy.test(one.remedy) && one.examples.some((text) => example.test(text))),
        `${fault.render('sqlite').text}: ${JSON.stringify(found)}`,
      );
    }
    await adjust(shop, id, -45, 'spoiled');
    const [note, ...others] = await findingsAfter(shop, sql`update catalogue set version = version`);
    assert.deepEqual([note?.isNote, note?.examples, others], [true, [`cheese ${id}: 2 kg are missing`], []]);
  });

  test('curd doctor names remedies that work', async () => {
    const shop = opened();
    const { database } = shop.app;
    const id = await trackedCheese(shop, 50);
    const order = await newOrder(shop, [[id, 5]]);
    await database.run(sql`update stock set reserved = 9000 where cheese_id = ${id}`);
    await database.run(sql`update open_order_cheese set reserved = 3000 where order_id = ${order}`);
    await database.run(sql`update stock_count set tracked = 70`);
    assert.equal((await untrack(shop, id)).status, 204);
    assert.equal((await putStock(shop, id, { onHand: 50 })).json.reserved, 5);
    await database.transaction(recountStock);
    await assertConsistent(shop);
  });
});

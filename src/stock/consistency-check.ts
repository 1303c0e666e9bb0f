/** Checks stock against the reservations of orders and the statuses of cheeses. */

import { readBlocks } from '../blocks.ts';
import { smallestGrams } from '../cheeses/portions.ts';
import type { Cheese } from '../cheeses/schemas.ts';
import { commandName } from '../command-name.ts';
import { type Finding, Findings, tryParseJson } from '../database/checks/findings.ts';
import type { Sql } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import { gramsToKilograms } from '../decimal.ts';
import { statusKind } from './levels.ts';
import { type LineWeight, lineGrams } from './line-weight.ts';

interface OfCheese {
  readonly cheese_id: number;
}

interface StoredReservation extends OfCheese {
  readonly order_id: number;
  readonly reserved: number;
  readonly items: string;
}

const pageSize = 2000;
const trackAgain = `track these cheeses again, which reserves their open orders: "${commandName} stock untrack <cheeseId>", "${commandName} stock set <cheeseId> <kg>"`;

/** @param database a snapshot, because the compared rows must not change meanwhile */
export function checkStock(database: Sql): Promise<Finding[]> {
  return new StockCheck(database).run();
}

class StockCheck {
  readonly #database: Sql;
  readonly #sums = new Findings(
    'stock whose reserved kilograms are not the sum of its reservations',
    trackAgain,
  );
  readonly #lines = new Findings('reservations that differ from the lines of their orders', trackAgain);
  readonly #ended = new Findings('reservations of orders that have shipped or ended', trackAgain);
  readonly #quantities = new Findings('stock with a negative quantity on hand', trackAgain);
  readonly #statuses = new Findings(
    'cheeses that the stock rule has set to sold, with another status',
    'set the status: "sold", then the one that you want',
  );
  readonly #flags = new Findings(
    'cheeses that are marked as tracked without stock, or the reverse',
    trackAgain,
  );
  readonly #smallest = new Findings(
    'stock with another smallest weight than the portions of its cheese',
    trackAgain,
  );
  readonly #counter = new Findings(
    'counter of tracked cheeses that is wrong',
    `run "${commandName} doctor --repair", which counts again`,
  );
  readonly #parked = new Findings(
    'cheeses whose status could not be changed by the stock rule and is not tried again',
    'remove the cause, then set the status yourself',
  );
  readonly #short = new Findings(
    'cheeses with less on hand than orders have reserved',
    'adjust the stock when more has arrived, or cancel orders',
    true,
  );

  constructor(database: Sql) {
    this.#database = database;
  }

  async run(): Promise<Finding[]> {
    await this.#checkSums();
    await this.#checkReservations();
    await this.#checkQuantities();
    await this.#checkFlags();
    await this.#checkSmallest();
    for (const { key, last_error } of await this.#database.all<{ key: string; last_error: string }>(sql`
      select key, last_error from background_job
      where kind = ${statusKind} and parked_at is not null limit 1000`)) {
      this.#parked.add(`cheese ${key}: ${last_error}`);
    }
    return [
      ...[
        this.#sums,
        this.#lines,
        this.#ended,
        this.#quantities,
        this.#statuses,
        this.#flags,
        this.#smallest,
      ],
      ...[this.#counter, this.#parked, this.#short],
    ].flatMap((findings) => findings.found());
  }

  async #checkSums(): Promise<void> {
    for (const row of await this.#database.all<OfCheese & { reserved: number; total: number }>(sql`
      select s.cheese_id, s.reserved, coalesce(r.total, 0) as total
      from stock s left join (${reservedTotals}) r on r.cheese_id = s.cheese_id
      where s.reserved <> coalesce(r.total, 0)
      union all
      select r.cheese_id, 0, r.total from (${reservedTotals}) r
      where not exists (select 1 from stock s where s.cheese_id = r.cheese_id) limit 1000`)) {
      this.#sums.add(
        `cheese ${row.cheese_id}: ${gramsToKilograms(row.reserved)} kg instead of ${gramsToKilograms(row.total)} kg`,
      );
    }
  }

  async #checkReservations(): Promise<void> {
    for await (const page of reservationsOfTracked(this.#database)) {
      for (const { cheese_id, order_id, reserved, items } of page) {
        const ordered = (tryParseJson<LineWeight[]>(items) ?? [])
          .filter(({ cheeseId }) => cheeseId === cheese_id)
          .reduce((sum, line) => sum + lineGrams(line), 0);
        if (ordered !== reserved) {
          this.#lines.add(
            `order ${order_id}, cheese ${cheese_id}: ${gramsToKilograms(reserved)} kg instead of ${gramsToKilograms(ordered)} kg`,
          );
        }
      }
    }
    for (const { order_id, cheese_id } of await this.#database.all<OfCheese & { order_id: number }>(sql`
      select c.order_id, c.cheese_id from open_order_cheese c left join orders o on o.id = c.order_id
      where c.reserved > 0 and coalesce(o.status not in ('placed', 'approved'), true) limit 1000`)) {
      this.#ended.add(`order ${order_id}, cheese ${cheese_id}`);
    }
  }

  async #checkQuantities(): Promise<void> {
    type Row = OfCheese & { on_hand: number; available: number; is_odd: 0 | 1 };
    for (const row of await this.#database.all<Row>(sql`
      select s.cheese_id, s.on_hand, s.on_hand - s.reserved as available,
        case when s.set_sold = 1 and c.status <> 'sold' then 1 else 0 end as is_odd
      from stock s join cheese c on c.id = s.cheese_id
      where s.on_hand < 0 or s.on_hand < s.reserved or (s.set_sold = 1 and c.status <> 'sold') limit 1000`)) {
      const name = `cheese ${row.cheese_id}`;
      if (row.on_hand < 0) {
        this.#quantities.add(`${name}: ${gramsToKilograms(row.on_hand)} kg`);
      }
      if (row.available < 0) {
        this.#short.add(`${name}: ${gramsToKilograms(-row.available)} kg are missing`);
      }
      if (row.is_odd === 1) {
        this.#statuses.add(name);
      }
    }
  }

  async #checkSmallest(): Promise<void> {
    type Row = { id: number; smallest: number; body: string };
    for await (const rows of readBlocks((after) =>
      this.#database.all<Row>(sql`
        select c.id, s.smallest, c.body from stock s join cheese c on c.id = s.cheese_id
        where s.cheese_id > ${after} order by s.cheese_id limit ${pageSize}`),
    )) {
      for (const { id, smallest, body } of rows) {
        const right = smallestGrams(tryParseJson<Cheese>(body) ?? {});
        if (smallest !== right) {
          this.#smallest.add(`cheese ${id}: ${smallest} g instead of ${right} g`);
        }
      }
    }
  }

  async #checkFlags(): Promise<void> {
    for (const { id } of await this.#database.all<{ id: number }>(sql`
      select c.id from cheese c left join stock s on s.cheese_id = c.id
      where (c.tracked = 1) <> (s.cheese_id is not null) limit 1000`)) {
      this.#flags.add(`cheese ${id}`);
    }
    const count = await this.#database.get<{ tracked: number; total: number }>(
      sql`select tracked, (select count(*) from stock) as total from stock_count`,
    );
    if (count?.tracked !== count?.total) {
      this.#counter.add(`${count?.tracked} instead of ${count?.total}`);
    }
  }
}

const reservedTotals = sql`
  select cheese_id, cast(sum(reserved) as bigint) as total from open_order_cheese
  where reserved > 0 group by cheese_id`;

/** Reads reservations of orders that have not shipped, in pages. */
async function* reservationsOfTracked(database: Sql): AsyncGenerator<StoredReservation[]> {
  let [cheese, order] = [0, 0];
  for (;;) {
    const page = await database.all<StoredReservation>(sql`
      select c.cheese_id, c.order_id, c.reserved, o.items
      from stock s join open_order_cheese c on c.cheese_id = s.cheese_id join orders o on o.id = c.order_id
      where (c.cheese_id, c.order_id) > (${cheese}, ${order}) and o.status in ('placed', 'approved')
      order by c.cheese_id, c.order_id limit ${pageSize}`);
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) {
      return;
    }
    [cheese, order] = [last.cheese_id, last.order_id];
  }
}

/** Counts the tracked cheeses again. */
export async function recountStock(tx: Sql): Promise<void> {
  await tx.run(sql`update stock_count set tracked = (select count(*) from stock)`);
}

/** Checks the prices of cheeses in the past against the cheeses. */
import { type Finding, Findings, readInPages, tryParseJson } from '../../database/checks/findings.ts';
import type { Sql } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { Cheese } from '../schemas.ts';

interface NewestPrice {
  readonly id: number;
  readonly body: string;
  /** null if the cheese has no row. */
  readonly since: string | null;
  readonly price: number | null;
}

const newestPrices = (database: Sql) => (after: number, limit: number) =>
  database.all<NewestPrice>(sql`
    select c.id, c.body, p.since, p.price from cheese c
      left join cheese_price p on p.cheese_id = c.id
        and p.since = (select max(since) from cheese_price where cheese_id = c.id)
    where c.id > ${after} order by c.id limit ${limit}`);

export async function checkPrices(database: Sql): Promise<Finding[]> {
  const wrong = new Findings(
    'cheeses whose price is not the newest in their list of prices',
    'change these prices and change them back: a change corrects the list',
  );
  const orphans = new Findings('prices of cheeses that do not exist', 'restore a backup');
  for await (const page of readInPages(newestPrices(database))) {
    for (const { id, body, since, price } of page) {
      const cheese = tryParseJson<Cheese>(body);
      const current = cheese?.pricePerKg ?? null;
      if (cheese !== undefined && (since === null || price !== current)) {
        wrong.add(`cheese ${id}: ${price ?? 'no price'} instead of ${current ?? 'no price'}`);
      }
    }
  }
  for (const { cheese_id } of await database.all<{ cheese_id: number }>(sql`
    select distinct cheese_id from cheese_price p
    where not exists (select 1 from cheese where id = p.cheese_id) order by cheese_id limit 1000`)) {
    orphans.add(`cheese ${cheese_id}`);
  }
  return [wrong, orphans].flatMap((findings) => findings.found());
}

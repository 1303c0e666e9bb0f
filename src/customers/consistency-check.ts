/** Whether what customers were credited with is what was delivered to them. */
import type { Sql } from '../database/database.ts';
import { type Finding, Findings } from '../database/findings.ts';
import { sql } from '../database/sql.ts';

export async function checkCustomers(database: Sql): Promise<Finding[]> {
  const credits = new Findings(
    'customers whose delivered total is not the sum of their delivered orders',
    'correct delivered_cents of these customers to the sum of their delivered orders',
  );
  const rows = await database.all<{ id: number }>(sql`
    select c.id from customer c
      left join (
        select customer_id, sum(total_cents) as cents from orders where status = 'delivered' group by customer_id
      ) o on o.customer_id = c.id
    where c.delivered_cents <> coalesce(o.cents, 0) order by c.id limit 1000`);
  for (const { id } of rows) {
    credits.add(`customer ${id}`);
  }
  return credits.found();
}

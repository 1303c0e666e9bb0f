/** Checks that open deliveries are sent some time, and that secrets of endpoints can be read. */
import { commandName } from '../command-name.ts';
import { type Finding, Findings } from '../database/checks/findings.ts';
import type { Sql } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import { deliveryKind } from './delivery/delivery-order.ts';
import { activeSecrets, type EndpointSecrets, parseSecrets } from './secrets.ts';

const rowsMax = 1000;

/** @param database a snapshot, because the compared rows must not change meanwhile */
export async function checkWebhooks(
  database: Sql,
  secrets: Pick<EndpointSecrets, 'isReadable'>,
  now: number,
): Promise<Finding[]> {
  const missing = new Findings(
    'webhook deliveries that are next for their subject and have no job, so that no server sends them',
    'start the server: it adds the jobs of enabled endpoints every minute',
  );
  for (const { id, endpoint_id } of await listWithoutJob(database)) {
    missing.add(`delivery ${id} of endpoint ${endpoint_id}`);
  }
  const unreadable = new Findings(
    'webhook endpoints whose secret cannot be read, because CURD_SECRET was changed',
    `set CURD_SECRET to its old value, or rotate the secret of the endpoint: "${commandName} webhooks rotate-secret <id>"`,
  );
  for (const row of await listSecrets(database)) {
    const active = activeSecrets(parseSecrets(row.secrets), now);
    if (!active.every((secret) => secrets.isReadable(row.id, secret))) {
      unreadable.add(`endpoint ${row.id}`);
    }
  }
  return [...missing.found(), ...unreadable.found()];
}

function listWithoutJob(database: Sql): Promise<{ id: number; endpoint_id: number }[]> {
  return database.all(sql`
    select id, endpoint_id from (
      select endpoint_id, min(id) as id from webhook_delivery
      where status in ('waiting', 'sending') and endpoint_id in (select id from webhook_endpoint)
      group by endpoint_id, subject
    ) firsts
    where not exists (
      select 1 from background_job j where j.kind = ${deliveryKind} and j.key = cast(firsts.id as text))
    order by id limit ${rowsMax}`);
}

function listSecrets(database: Sql): Promise<{ id: number; secrets: string }[]> {
  return database.all(sql`select id, secrets from webhook_endpoint order by id`);
}

/** Statements of webhook endpoints and of their delivery log, as operators see them. */
import { queriesOn } from '../database/database.ts';
import { joinAnd, type Statement, sql, valueList } from '../database/sql.ts';
import {
  type AttemptRow,
  type DeliveryRow,
  type DeliveryStatus,
  deliveryColumns,
  type EndpointRow,
  endpointColumns,
} from './queries.ts';

export type NewEndpoint = Pick<
  EndpointRow,
  'account_id' | 'url' | 'types' | 'description' | 'position' | 'created_at'
>;

export interface DeliveryFilters {
  readonly status?: DeliveryStatus | undefined;
  readonly eventId?: string | undefined;
}

/** These are constants, because a bound value would hide the partial indexes. */
const isStatus: Readonly<Record<DeliveryStatus, Statement>> = {
  waiting: sql`status = 'waiting'`,
  sending: sql`status = 'sending'`,
  delivered: sql`status = 'delivered'`,
  failed: sql`status = 'failed'`,
};

export const endpointQueries = queriesOn((tx) => ({
  list: () => tx.all<EndpointRow>(sql`select ${endpointColumns} from webhook_endpoint order by id`),

  listOfAccount: (accountId: number) =>
    tx.all<EndpointRow>(sql`
      select ${endpointColumns} from webhook_endpoint where account_id = ${accountId} order by id`),

  countOfAccount: async (accountId: number) => {
    const row = await tx.get<{ endpoints: number }>(sql`
      select count(*) as endpoints from webhook_endpoint where account_id = ${accountId}`);
    return row?.endpoints ?? 0;
  },

  /** Open deliveries of each endpoint that has some. */
  countOpen: (ids: readonly number[]) =>
    tx.all<{ endpoint_id: number; open: number }>(sql`
      select endpoint_id, count(*) as open from webhook_delivery
      where endpoint_id in (${valueList(ids)}) and status in ('waiting', 'sending') group by endpoint_id`),

  /** Its secrets are stored once its id is known, to which they are bound. */
  insert: (endpoint: NewEndpoint) =>
    tx.get<EndpointRow>(sql`
      insert into webhook_endpoint (account_id, url, types, description, secrets, status, position, created_at,
        updated_at)
      values (${endpoint.account_id}, ${endpoint.url}, ${endpoint.types}, ${endpoint.description}, '[]', 'enabled',
        ${endpoint.position}, ${endpoint.created_at}, ${endpoint.created_at})
      returning ${endpointColumns}`),

  updateSecrets: (id: number, secrets: string) =>
    tx.run(sql`update webhook_endpoint set secrets = ${secrets} where id = ${id}`),

  /** Stores a row that was locked and changed. */
  update: (row: EndpointRow) =>
    tx.run(sql`
      update webhook_endpoint set url = ${row.url}, types = ${row.types}, description = ${row.description},
        secrets = ${row.secrets}, status = ${row.status}, disabled_reason = ${row.disabled_reason},
        position = ${row.position}, failing_since = ${row.failing_since}, failures_in_row = ${row.failures_in_row},
        paused_until = ${row.paused_until}, pause_ms = ${row.pause_ms}, version = ${row.version},
        updated_at = ${row.updated_at}
      where id = ${row.id}`),

  /** Maintenance deletes its deliveries, of which there may be millions. */
  delete: (id: number) => tx.run(sql`delete from webhook_endpoint where id = ${id}`),

  listTestPings: async (id: number): Promise<number[]> => {
    const row = await tx.get<{ test_pings: string }>(
      sql`select test_pings from webhook_endpoint where id = ${id}`,
    );
    return JSON.parse(row?.test_pings ?? '[]');
  },

  /** @param times milliseconds since the epoch */
  updateTestPings: (id: number, times: readonly number[]) =>
    tx.run(sql`update webhook_endpoint set test_pings = ${JSON.stringify(times)} where id = ${id}`),

  /** Newest first. @param before the id of the last delivery of the page before; null for the newest */
  listLog: (endpointId: number, { status, eventId }: DeliveryFilters, before: number | null, limit: number) =>
    tx.all<DeliveryRow>(sql`
      select ${deliveryColumns} from webhook_delivery where ${joinAnd([
        sql`endpoint_id = ${endpointId}`,
        ...(status === undefined ? [] : [isStatus[status]]),
        ...(eventId === undefined ? [] : [sql`event_id = ${eventId}`]),
        ...(before === null ? [] : [sql`id < ${before}`]),
      ])} order by id desc limit ${limit}`),

  /** undefined also if its endpoint was deleted. */
  findDelivery: (id: number) =>
    tx.get<DeliveryRow>(sql`
      select ${deliveryColumns} from webhook_delivery
      where id = ${id} and endpoint_id in (select id from webhook_endpoint)`),

  listAttempts: (deliveryId: number) =>
    tx.all<AttemptRow>(sql`
      select delivery_id, number, at, duration_ms, status, error, response from webhook_attempt
      where delivery_id = ${deliveryId} order by number`),

  /** An open delivery of the same event to the same endpoint. */
  findOpenOf: (endpointId: number, eventId: string) =>
    tx.get<Pick<DeliveryRow, 'id' | 'status'>>(sql`
      select id, status from webhook_delivery
      where endpoint_id = ${endpointId} and event_id = ${eventId} and status in ('waiting', 'sending')
      order by id limit 1`),

  listPrevious: (endpointId: number, sequences: readonly number[]) =>
    tx.all<{ sequence: number; previous_id: string | null }>(sql`
      select sequence, previous_id from webhook_delivery
      where endpoint_id = ${endpointId} and kind = 'event' and sequence in (${valueList(sequences)})`),

  findLastDelivery: (endpointId: number) =>
    tx.get<{ id: number }>(sql`
      select id from webhook_delivery where endpoint_id = ${endpointId} order by id desc limit 1`),

  listWaiting: (endpointId: number, after: number, limit: number) =>
    tx.all<{ id: number }>(sql`
      select id from webhook_delivery where endpoint_id = ${endpointId} and status = 'waiting' and id > ${after}
      order by id limit ${limit}`),

  updateSkipped: (ids: readonly number[], error: string, now: string) =>
    tx.run(sql`
      update webhook_delivery set status = 'failed', last_error = ${error}, ended_at = ${now}
      where id in (${valueList(ids)}) and status = 'waiting'`),
}));

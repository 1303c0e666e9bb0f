/** Statements on the tables `webhook_endpoint`, `webhook_delivery` and `webhook_attempt` that queue and send deliveries. */
import { queriesOn, type Sql } from '../database/database.ts';
import { insertRows } from '../database/rows.ts';
import {
  deleteInOrder,
  forUpdate,
  selectIntegers,
  selectTexts,
  skippingLocked,
  sql,
  valueList,
} from '../database/sql.ts';
import type { DisabledReason } from './event-types.ts';

export type EndpointStatus = 'enabled' | 'disabled';
export type DeliveryKind = 'event' | 'replay';
export type DeliveryStatus = 'waiting' | 'sending' | 'delivered' | 'failed';

export interface EndpointRow {
  readonly id: number;
  readonly account_id: number;
  readonly url: string;
  /** JSON list; null for the types that every API key sees. */
  readonly types: string | null;
  readonly description: string | null;
  /** JSON list: see secrets.ts. */
  readonly secrets: string;
  readonly status: EndpointStatus;
  readonly disabled_reason: DisabledReason | null;
  /** The number of the last event that was examined for the endpoint. */
  readonly position: number;
  /** The last event that was queued for it. */
  readonly last_event_id: string | null;
  /** The first failed attempt since the last success. */
  readonly failing_since: string | null;
  readonly failures_in_row: number;
  readonly paused_until: string | null;
  /** The length of the last pause since the last success; 0 without one. */
  readonly pause_ms: number;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface DeliveryRow {
  readonly id: number;
  readonly endpoint_id: number;
  readonly sequence: number;
  readonly event_id: string;
  readonly type: string;
  readonly subject: string;
  /** The event before this one for the endpoint. */
  readonly previous_id: string | null;
  readonly kind: DeliveryKind;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created_at: string;
  readonly ended_at: string | null;
}

/** A delivery to be queued. */
export type NewDelivery = Pick<
  DeliveryRow,
  'endpoint_id' | 'sequence' | 'event_id' | 'type' | 'subject' | 'previous_id' | 'kind' | 'created_at'
>;

export interface AttemptRow {
  readonly delivery_id: number;
  readonly number: number;
  readonly at: string;
  /** null while the request runs, and if the server stopped before the result was known. */
  readonly duration_ms: number | null;
  readonly status: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

/** How well an endpoint responds. */
export type EndpointHealth = Pick<
  EndpointRow,
  'id' | 'failing_since' | 'failures_in_row' | 'paused_until' | 'pause_ms'
>;

export type DeliveryResult = Pick<DeliveryRow, 'id' | 'status' | 'last_status' | 'last_error' | 'ended_at'>;

export const endpointColumns = sql`
  id, account_id, url, types, description, secrets, status, disabled_reason, position, last_event_id,
  failing_since, failures_in_row, paused_until, pause_ms, version, created_at, updated_at`;
export const deliveryColumns = sql`
  id, endpoint_id, sequence, event_id, type, subject, previous_id, kind, status, attempts, last_status, last_error,
  created_at, ended_at`;
const attemptColumns = sql`delivery_id, number, at, duration_ms, status, error, response`;

const isOpen = sql`status in ('waiting', 'sending')`;

export const webhookQueries = queriesOn((tx: Sql) => ({
  findEndpoint: (id: number) =>
    tx.get<EndpointRow>(sql`select ${endpointColumns} from webhook_endpoint where id = ${id}`),

  /** The lock of an endpoint comes before the locks of its deliveries and jobs. */
  lockEndpointForUpdate: (id: number) =>
    tx.get<EndpointRow>(sql`select ${endpointColumns} from webhook_endpoint where id = ${id}${forUpdate}`),

  insertDeliveries: (deliveries: readonly NewDelivery[]) =>
    insertRows(
      tx,
      'webhook_delivery',
      deliveries.map((delivery) => ({
        endpoint_id: delivery.endpoint_id,
        sequence: delivery.sequence,
        event_id: delivery.event_id,
        type: delivery.type,
        subject: delivery.subject,
        previous_id: delivery.previous_id,
        kind: delivery.kind,
        created_at: delivery.created_at,
        status: 'waiting',
      })),
    ),

  listEnabled: () =>
    tx.all<{ id: number; position: number }>(sql`
      select id, position from webhook_endpoint where status = 'enabled' order by id`),

  countAllOpen: () =>
    tx.get<{ count: number }>(sql`select count(*) as count from webhook_delivery where ${isOpen}`),

  countFailing: () =>
    tx.get<{ count: number }>(sql`
      select count(*) as count from webhook_endpoint where status = 'enabled' and failing_since is not null`),

  countByStatus: () =>
    tx.all<{ status: EndpointStatus; count: number }>(sql`
      select status, count(*) as count from webhook_endpoint group by status`),

  /** Skips an endpoint that another transaction has locked. */
  lockEnabled: (id: number) =>
    tx.get<EndpointRow>(sql`
      select ${endpointColumns} from webhook_endpoint where id = ${id} and status = 'enabled'${skippingLocked}`),

  updatePosition: (id: number, position: number, lastEventId: string | null) =>
    tx.run(sql`
      update webhook_endpoint set position = ${position}, last_event_id = ${lastEventId} where id = ${id}`),

  updateHealth: (endpoint: EndpointHealth) =>
    tx.run(sql`
      update webhook_endpoint set failing_since = ${endpoint.failing_since},
        failures_in_row = ${endpoint.failures_in_row}, paused_until = ${endpoint.paused_until},
        pause_ms = ${endpoint.pause_ms}
      where id = ${endpoint.id}`),

  disable: (id: number, reason: DisabledReason, now: string) =>
    tx.run(sql`
      update webhook_endpoint set status = 'disabled', disabled_reason = ${reason}, version = version + 1,
        updated_at = ${now}
      where id = ${id}`),

  countOpen: (endpointId: number) =>
    tx.get<{ count: number }>(sql`
      select count(*) as count from webhook_delivery where endpoint_id = ${endpointId} and ${isOpen}`),

  /** The first open delivery of each of these subjects. */
  listFirstOf: (endpointId: number, subjects: readonly string[]) =>
    tx.all<{ id: number }>(sql`
      select min(id) as id from webhook_delivery
      where endpoint_id = ${endpointId} and ${isOpen}
        and subject in (${selectTexts(subjects)})
      group by subject`),

  /** The first open delivery of each subject, in the order of the subjects. */
  listFirsts: (endpointId: number, after: string, limit: number) =>
    tx.all<{ id: number; subject: string }>(sql`
      select subject, min(id) as id from webhook_delivery
      where endpoint_id = ${endpointId} and subject > ${after} and ${isOpen}
      group by subject order by subject limit ${limit}`),

  listDeliveries: (ids: readonly number[]) =>
    tx.all<DeliveryRow>(sql`
      select ${deliveryColumns} from webhook_delivery where id in (${valueList(ids)}) order by id`),

  /** Begins an attempt of each of these deliveries. */
  markSending: (ids: readonly number[]) =>
    tx.run(sql`
      update webhook_delivery set status = 'sending', attempts = attempts + 1 where id in (${valueList(ids)})`),

  updateDelivery: ({ id, status, last_status, last_error, ended_at }: DeliveryResult) =>
    tx.run(sql`
      update webhook_delivery set status = ${status}, last_status = ${last_status}, last_error = ${last_error},
        ended_at = ${ended_at}
      where id = ${id}`),

  insertAttempts: (deliveries: readonly DeliveryRow[], at: string) =>
    insertRows(
      tx,
      'webhook_attempt',
      deliveries.map(({ id, attempts }) => ({ delivery_id: id, number: attempts + 1, at })),
    ),

  updateAttempt: (attempt: Omit<AttemptRow, 'at'>) =>
    tx.run(sql`
      update webhook_attempt set duration_ms = ${attempt.duration_ms}, status = ${attempt.status},
        error = ${attempt.error}, response = ${attempt.response}
      where delivery_id = ${attempt.delivery_id} and number = ${attempt.number}`),

  findAttempt: (deliveryId: number, number: number) =>
    tx.get<AttemptRow>(sql`
      select ${attemptColumns} from webhook_attempt where delivery_id = ${deliveryId} and number = ${number}`),

  listEnded: (before: string, limit: number) =>
    tx.all<{ id: number }>(sql`
      select id from webhook_delivery where ended_at < ${before} order by ended_at limit ${limit}`),

  /** Lists deliveries of endpoints that were deleted. */
  listOrphans: (limit: number) =>
    tx.all<{ id: number }>(sql`
      select d.id from webhook_delivery d
      where d.endpoint_id in (
        with recursive of (id) as (
          select min(endpoint_id) from webhook_delivery
          union all
          select (select min(e.endpoint_id) from webhook_delivery e where e.endpoint_id > of.id)
          from of where of.id is not null
        )
        select id from of where id is not null and id not in (select id from webhook_endpoint))
      limit ${limit}`),

  /** Deletes deliveries with their attempts. */
  async deleteDeliveries(ids: readonly number[]): Promise<void> {
    const list = selectIntegers(ids);
    await tx.run(deleteInOrder('webhook_attempt', 'delivery_id, number', sql`delivery_id in (${list})`));
    await tx.run(deleteInOrder('webhook_delivery', 'id', sql`id in (${list})`));
  },
}));

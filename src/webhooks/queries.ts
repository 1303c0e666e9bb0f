/** Statements on the tables `webhook_endpoint`, `webhook_delivery` and `webhook_attempt` that queue and send deliveries. */
import { queriesOn, type Sql } from '../database/database.ts';
import { forUpdate, sql, valueList } from '../database/sql.ts';
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
  /** null while the request runs, and where the server stopped before the result was known. */
  readonly duration_ms: number | null;
  readonly status: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

export const endpointColumns = sql`
  id, account_id, url, types, description, secrets, status, disabled_reason, position, last_event_id,
  failing_since, failures_in_row, paused_until, pause_ms, version, created_at, updated_at`;
export const deliveryColumns = sql`
  id, endpoint_id, sequence, event_id, type, subject, previous_id, kind, status, attempts, last_status, last_error,
  created_at, ended_at`;

const newDeliveryColumns = [
  'endpoint_id',
  'sequence',
  'event_id',
  'type',
  'subject',
  'previous_id',
  'kind',
  'created_at',
  'status',
];

const isOpen = sql`status in ('waiting', 'sending')`;

export const webhookQueries = queriesOn((tx: Sql) => ({
  findEndpoint: (id: number) =>
    tx.get<EndpointRow>(sql`select ${endpointColumns} from webhook_endpoint where id = ${id}`),

  /** The lock of an endpoint comes before the locks of its deliveries and jobs. */
  lockEndpointForUpdate: (id: number) =>
    tx.get<EndpointRow>(sql`select ${endpointColumns} from webhook_endpoint where id = ${id}${forUpdate}`),

  insertDeliveries: (deliveries: readonly NewDelivery[]) =>
    tx.insert(
      'webhook_delivery',
      newDeliveryColumns,
      deliveries.map((one) => [
        one.endpoint_id,
        one.sequence,
        one.event_id,
        one.type,
        one.subject,
        one.previous_id,
        one.kind,
        one.created_at,
        'waiting',
      ]),
    ),

  countOpen: (endpointId: number) =>
    tx.get<{ count: number }>(sql`
      select count(*) as count from webhook_delivery where endpoint_id = ${endpointId} and ${isOpen}`),

  /**
   * The first delivery of each line, which needs a job, from an id on. The others get theirs when those before them end.
   */
  listFirstOfLines: (endpointId: number, from: number, limit: number) =>
    tx.all<{ id: number }>(sql`
      select id from webhook_delivery d
      where endpoint_id = ${endpointId} and id >= ${from} and status = 'waiting' and not exists (
        select 1 from webhook_delivery earlier
        where earlier.endpoint_id = d.endpoint_id and earlier.subject = d.subject and earlier.id < d.id
          and earlier.status in ('waiting', 'sending'))
      order by id limit ${limit}`),

  listDeliveries: (ids: readonly number[]) =>
    tx.all<DeliveryRow>(sql`
      select ${deliveryColumns} from webhook_delivery where id in (${valueList(ids)}) order by id`),
}));

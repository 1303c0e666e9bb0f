/** Metrics of the server's state, read when /metrics is requested. Requests are counted in http/metrics/metrics.ts. */

import type { Clock } from '../clock.ts';
import { databaseSize } from '../database/checks/size.ts';
import type { Numbering } from '../event-log/numbering.ts';
import type { LiveConnections } from '../events/live-connections.ts';
import { type DiskSpace, diskSpaceOf, storageFoldersOf } from '../files/disk-space.ts';
import type { Uploads } from '../http/bodies/uploads.ts';
import type { MetricDefinition } from '../http/metrics/metrics.ts';
import type { Overload } from '../limits/overload.ts';
import type { WebhookStats } from '../webhooks/delivery/worker.ts';
import { apiInfo } from './api-info.ts';
import type { Services } from './services.ts';

/** The maximum age of a value that costs a query. */
const ordersFreshMs = 15_000;
/** PostgreSQL reads the size of every file of the database. */
const sizeFreshMs = 60_000;

interface Dependencies {
  readonly services: Pick<Services, 'config' | 'database' | 'orderReader' | 'passwords' | 'imageRenderer'>;
  readonly clock: Clock;
  readonly overload: Overload;
  readonly uploads: Uploads;
  /** Requests refused since the start, by limit. */
  readonly refusals: () => Readonly<Record<string, number>>;
  readonly webhooks: WebhookStats;
  readonly numbering: Pick<Numbering, 'numbered' | 'lagSeconds'>;
  readonly connections: Pick<LiveConnections, 'count'>;
}

/** The metrics, in the order of /metrics. */
export function createGauges({
  services,
  clock,
  overload,
  uploads,
  refusals,
  webhooks,
  numbering,
  connections,
}: Dependencies): MetricDefinition[] {
  const { config, database, orderReader, passwords, imageRenderer } = services;
  const folders = storageFoldersOf(config);

  /** Reads a value again when the last one is too old. */
  function cached<T>(freshMs: number, read: () => Promise<T>): () => Promise<T> {
    let last: { readonly at: number; readonly value: T } | null = null;
    return async () => {
      if (last === null || clock.now() - last.at >= freshMs) {
        last = { at: clock.now(), value: await read() };
      }
      return last.value;
    };
  }

  async function ordersByStatus(): Promise<Record<string, number>> {
    const counts = Object.entries(await orderReader.countByStatus());
    return Object.fromEntries(counts.map(([status, count]) => [`{status="${status}"}`, count]));
  }

  const space = (read: (one: DiskSpace) => number) => async () => {
    const spaces = await diskSpaceOf(folders);
    return Object.fromEntries(spaces.map((one) => [`{folder="${one.folder}"}`, read(one)]));
  };

  const gauge = (name: string, help: string, read: MetricDefinition['read']): MetricDefinition => ({
    name,
    help,
    type: 'gauge',
    read,
  });
  const counter = (name: string, help: string, read: MetricDefinition['read']): MetricDefinition => ({
    name,
    help,
    type: 'counter',
    read,
  });
  const labelled = (label: string, values: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(values).map(([value, count]) => [`{${label}="${value}"}`, count]));
  const byState = ({ running, waiting }: { running: number; waiting: number }) => ({
    '{state="running"}': running,
    '{state="waiting"}': waiting,
  });
  return [
    counter('curd_calls_refused_total', 'Requests that a rate limit refused.', refusals),
    gauge(
      'curd_orders',
      'Orders by status, counted every 15 seconds at most.',
      cached(ordersFreshMs, ordersByStatus),
    ),
    counter(
      'curd_events_numbered_total',
      'Events that this instance numbered; on SQLite all that were recorded since its start.',
      numbering.numbered,
    ),
    gauge(
      'curd_events_numbering_lag_seconds',
      'Age of the oldest event without a number; always 0 on SQLite.',
      numbering.lagSeconds,
    ),
    gauge('curd_event_streams_open', 'Open event streams and requests that wait, by kind.', () => ({
      '{kind="stream"}': connections.count('stream'),
      '{kind="long_poll"}': connections.count('longPoll'),
    })),
    gauge(
      'curd_changes_under_way',
      'Requests that change data and have no response yet.',
      () => overload.stats().changes,
    ),
    gauge(
      'curd_event_loop_lag_seconds',
      'The last measured lag of the event loop.',
      () => overload.stats().lagMs / 1000,
    ),
    gauge('curd_uploads_under_way', 'Uploads that are being received, wait or are processed.', uploads.count),
    gauge('curd_pictures', 'Images that are being rendered, or wait for it.', () =>
      byState(imageRenderer.stats()),
    ),
    gauge('curd_passwords', 'Passwords that are being hashed or verified, or wait for it.', () =>
      byState(passwords.stats()),
    ),
    counter(
      'curd_webhook_attempts_total',
      'Attempts to send webhooks by outcome: delivered, to be retried, given up.',
      () => labelled('outcome', webhooks.attempts),
    ),
    gauge(
      'curd_webhook_delivery_lag_seconds',
      'Age of the oldest delivery that is due and not delivered.',
      webhooks.lagSeconds,
    ),
    gauge('curd_webhook_endpoints', 'Webhook endpoints by status.', async () =>
      labelled('status', await webhooks.endpoints()),
    ),
    counter(
      'curd_database_operations_total',
      'Commits on SQLite; statements and transactions on PostgreSQL.',
      () => database.stats().done,
    ),
    counter('curd_database_seconds_total', 'Time that these took.', () => database.stats().seconds),
    gauge(
      'curd_database_waiting',
      'Statements and transactions that wait for the database.',
      () => database.stats().waiting,
    ),
    gauge(
      'curd_database_size_bytes',
      'Size of the database, read every 60 seconds at most.',
      cached(sizeFreshMs, () => databaseSize(database)),
    ),
    gauge(
      'curd_disk_free_bytes',
      'Free space of the disk with the folder.',
      space(({ freeBytes }) => freeBytes),
    ),
    gauge(
      'curd_disk_total_bytes',
      'Size of the disk with the folder.',
      space(({ totalBytes }) => totalBytes),
    ),
    gauge('curd_build_info', 'Always 1; the labels name the version, engine and environment.', () => ({
      [`{version="${apiInfo.version}",node="${process.versions.node}",engine="${database.engine}",environment="${config.environment}"}`]: 1,
    })),
    gauge('process_resident_memory_bytes', 'Memory of this process.', () => process.memoryUsage.rss()),
    counter('process_cpu_seconds_total', 'Processor time of this process.', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    }),
    gauge(
      'process_start_time_seconds',
      'Start time of this process, since the epoch.',
      () => Math.round(performance.timeOrigin) / 1000,
    ),
  ];
}

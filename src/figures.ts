/** What a server knows of itself besides the requests it has answered, for whoever watches it. */
import type { Clock } from './clock.ts';
import type { Figure } from './http/metrics.ts';
import type { Overload } from './http/overload.ts';
import type { Uploads } from './http/uploads.ts';
import type { Services } from './services.ts';

/** Orders are counted anew when the last count is so old. */
const ordersFreshMs = 15_000;

interface Dependencies {
  readonly services: Pick<Services, 'database' | 'history' | 'passwords' | 'pictures'>;
  readonly clock: Clock;
  readonly overload: Overload;
  readonly uploads: Uploads;
  /** Calls turned away so far, by the limit that did. */
  readonly refusals: () => Readonly<Record<string, number>>;
}

export function figuresOf({ services, clock, overload, uploads, refusals }: Dependencies): Figure[] {
  const { database, history, passwords, pictures } = services;
  let orders: Record<string, number> = {};
  let countedAt = Number.NEGATIVE_INFINITY;

  async function ordersByStatus(): Promise<Record<string, number>> {
    if (clock.now() - countedAt >= ordersFreshMs) {
      const counts = Object.entries(await history.countByStatus());
      orders = Object.fromEntries(counts.map(([status, count]) => [`{status="${status}"}`, count]));
      countedAt = clock.now();
    }
    return orders;
  }

  const gauge = (name: string, help: string, read: Figure['read']): Figure => ({
    name,
    help,
    type: 'gauge',
    read,
  });
  const counter = (name: string, help: string, read: Figure['read']): Figure => ({
    name,
    help,
    type: 'counter',
    read,
  });
  const byState = ({ running, waiting }: { running: number; waiting: number }) => ({
    '{state="running"}': running,
    '{state="waiting"}': waiting,
  });
  return [
    counter('curd_calls_refused_total', 'Calls that a limit turned away.', refusals),
    gauge('curd_orders', 'Orders by status, counted every 15 seconds at most.', ordersByStatus),
    gauge(
      'curd_changes_under_way',
      'Requests that change something and are not answered yet.',
      () => overload.standing().changes,
    ),
    gauge(
      'curd_event_loop_lag_seconds',
      'For how long the process was last too busy for anything new.',
      () => overload.standing().lagMs / 1000,
    ),
    gauge('curd_uploads_under_way', 'Pictures that are received, wait or are worked on.', uploads.count),
    gauge('curd_pictures', 'Pictures that are worked on, or wait for it.', () =>
      byState(pictures.standing()),
    ),
    gauge('curd_passwords', 'Passwords that are worked on, or wait for it.', () =>
      byState(passwords.standing()),
    ),
    counter(
      'curd_database_operations_total',
      'Commits on SQLite; statements and transactions on PostgreSQL.',
      () => database.standing().done,
    ),
    counter('curd_database_seconds_total', 'How long these took.', () => database.standing().seconds),
    gauge(
      'curd_database_waiting',
      'What the database has not answered yet.',
      () => database.standing().waiting,
    ),
    gauge('process_resident_memory_bytes', 'Memory of this process.', () => process.memoryUsage.rss()),
    counter('process_cpu_seconds_total', 'Processor time of this process.', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    }),
    gauge(
      'process_start_time_seconds',
      'When this process began, since the epoch.',
      () => Math.round(performance.timeOrigin) / 1000,
    ),
  ];
}

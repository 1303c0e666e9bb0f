/** What an operator sees of the running server: figures of /metrics, instances, settings, and what failed recently. */

import { type Clock, clockState, machineTime, timestamp } from '../clock.ts';
import { findBackupTime, ping } from '../database/checks/state.ts';
import type { Database } from '../database/database.ts';
import { countUnnumbered, readLogState } from '../event-log/reading/log-reader.ts';
import type { LiveConnections } from '../events/live-connections.ts';
import type { Site } from '../http/area.ts';
import type { RecentFailures } from '../http/metrics/recent-failures.ts';
import type { DeprecationReport } from '../http/pipeline/deprecation.ts';
import type { Loops } from '../jobs/loops.ts';
import { jobQueue } from '../jobs/queue.ts';
import type { MailStatus } from '../mail/open.ts';
import type { Config } from '../settings/config.ts';
import type { WebhookStats } from '../webhooks/delivery/worker.ts';
import type { Instances } from './instances.ts';

export interface StatusDependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly config: Pick<Config, 'environment' | 'given'>;
  readonly site: () => Site;
  readonly loops: Loops;
  readonly instances: Instances;
  readonly webhookStats: Pick<WebhookStats, 'waiting' | 'failing'>;
  readonly mailStatus: () => Promise<MailStatus>;
  readonly connections: Pick<LiveConnections, 'count'>;
  readonly deprecations: Pick<DeprecationReport, 'list'>;
  readonly failures: Pick<RecentFailures, 'list'>;
}

/** A function that reads the status of the shop and of this instance. */
export function createStatusReader(dependencies: StatusDependencies) {
  const { database, clock, config, instances, webhookStats, mailStatus, connections } = dependencies;
  const { deprecations, failures, loops } = dependencies;

  async function latencyMs(): Promise<number> {
    const before = performance.now();
    await ping(database);
    return Math.round((performance.now() - before) * 100) / 100;
  }

  async function countDueJobs(): Promise<{ readonly due: number; readonly oldestSeconds: number }> {
    const now = clock.now();
    const { due = 0, first = null } = (await jobQueue(database).countDue(timestamp(now))) ?? {};
    return { due, oldestSeconds: first === null ? 0 : Math.max(0, now - Date.parse(first)) / 1000 };
  }

  const listLoops = () =>
    loops.list().map(({ name, everyMs, lastRunAt, lastRunMs, failures, isFailing }) => ({
      name,
      everySeconds: everyMs / 1000,
      lastRunAt: lastRunAt === null ? null : timestamp(lastRunAt),
      lastRunSeconds: lastRunMs === null ? null : Math.round(lastRunMs) / 1000,
      failures,
      isFailing,
    }));

  return async () => {
    const latency = await latencyMs();
    const { first, last, epochs } = await readLogState(database);
    return {
      version: instances.version,
      environment: config.environment,
      shopName: dependencies.site().name,
      engine: database.engine,
      startedAt: instances.startedAt,
      uptimeSeconds: Math.max(0, Math.floor((machineTime(clock) - Date.parse(instances.startedAt)) / 1000)),
      instance: instances.id,
      instances: await instances.list(),
      database: { latencyMs: latency, waiting: database.stats().waiting },
      log: { last, first, waiting: await countUnnumbered(database), epoch: epochs.at(-1)?.name ?? null },
      clock: clockState(clock),
      jobs: await countDueJobs(),
      loops: listLoops(),
      deliveries: { waiting: await webhookStats.waiting(), failing: await webhookStats.failing() },
      mail: await mailStatus(),
      streams: connections.count('stream'),
      memoryBytes: process.memoryUsage.rss(),
      lastBackupAt: await findBackupTime(database),
      settings: config.given,
      deprecated: deprecations.list(),
      faults: failures.list(),
    };
  };
}

/**
 * Starts the engine of webhooks with the first enabled endpoint: a shop without one loads no module of it, has no
 * connection for it, and looks for one every few seconds.
 */
import { timestamp } from '../../clock.ts';
import type { Sql } from '../../database/database.ts';
import { purgeInSlices } from '../../database/purge.ts';
import { leasedJobs } from '../../jobs/leases.ts';
import { RepeatedWork } from '../../jobs/repeated-work.ts';
import { endpointQueries } from '../endpoint-queries.ts';
import { isPaused } from '../health.ts';
import { webhookQueries } from '../queries.ts';
import { deliveryKind, toLane } from './delivery-order.ts';
import type { WebhookDependencies, WebhookEngine } from './engine.ts';

/** A block takes some milliseconds on SQLite. */
const purgedOfABlock = 500;
/**
 * A command or another instance may register the first endpoint. If that instance is killed, this one must notice it
 * soon, so it may not wait for the maintenance.
 */
const recheckMs = 5000;

export type WebhookWorker = ReturnType<typeof createWebhookWorker>;

export interface WebhookStats {
  /** Attempts since the start by outcome. */
  readonly attempts: Readonly<Record<'delivered' | 'retried' | 'given_up', number>>;
  /** Endpoints by status. */
  endpoints(): Promise<Readonly<Record<'enabled' | 'disabled', number>>>;
  /** Deliveries that have not ended. */
  waiting(): Promise<number>;
  /** Enabled endpoints whose last delivery failed. */
  failing(): Promise<number>;
  /** Age of the oldest delivery of an enabled endpoint that is due. */
  lagSeconds(): Promise<number>;
}

export function createWebhookWorker(dependencies: WebhookDependencies) {
  const { database, clock, log, loops, config } = dependencies;
  const queries = webhookQueries(database);
  const attempts = { delivered: 0, retried: 0, given_up: 0 };
  let engine: Promise<WebhookEngine> | null = null;
  let isStarted = false;
  let isStopped = false;

  function load(): Promise<WebhookEngine> {
    engine ??= import('./engine.ts').then(({ createWebhookEngine }) =>
      createWebhookEngine(dependencies, (outcome) => {
        attempts[outcome] += 1;
      }),
    );
    return engine;
  }

  function notStarted(error: unknown): void {
    log.error({ err: error }, 'webhooks could not be started; it is tried again in seconds');
  }

  async function activate(): Promise<void> {
    if (isStarted && !isStopped && (engine !== null || (await queries.listEnabled()).length > 0)) {
      (await load()).start();
    }
  }

  const rechecks = new RepeatedWork({
    loops,
    name: 'webhook.start',
    everyMs: recheckMs,
    run: activate,
    onError: notStarted,
  });

  return {
    /** Sends webhooks from now on. @param isOnlyServer no other process sends any: then leases of before are over */
    async start(isOnlyServer: boolean = false) {
      isStarted = true;
      if (isOnlyServer) {
        await leasedJobs(database).endAllLeases(deliveryKind, clock.now());
      }
      await activate();
      rechecks.start();
    },
    /** An endpoint was registered or enabled, or has deliveries to be repeated: call it after the commit. */
    wake(endpointId: number) {
      if (!isStarted) {
        return;
      }
      activate()
        .then(async () => (await engine)?.wake(endpointId))
        .catch(notStarted);
    },
    /** Every minute: finds deliveries without a job. */
    async maintain() {
      await (await engine)?.addMissingJobs();
    },
    /** Deletes deliveries that ended long ago, and those of deleted endpoints. Returns whether some are left. */
    async purge() {
      const before = timestamp(clock.now() - config.deliveryRetentionMs);
      const deleteSome = async (tx: Sql, limit: number) => {
        const ofShop = webhookQueries(tx);
        const rows = isStopped
          ? []
          : [...(await ofShop.listEnded(before, limit)), ...(await ofShop.listOrphans(limit))];
        if (rows.length > 0) {
          await ofShop.deleteDeliveries(rows.map(({ id }) => id));
        }
        return rows.length;
      };
      return purgeInSlices(database, deleteSome, purgedOfABlock);
    },
    /** Queues and sends all that is due now. @param mayContinue asked before further requests begin */
    run: async (mayContinue?: () => boolean) => (await load()).run(mayContinue),
    /** When the first attempt after a time is due; null without one. */
    async nextDueAt(after: number) {
      return (await queries.listEnabled()).length === 0 ? null : findNextAttempt(database, after);
    },
    /** Whether an endpoint is enabled, so that events are sent. */
    hasEndpoints: async () => (await queries.listEnabled()).length > 0,
    async stop() {
      isStopped = true;
      await rechecks.stop();
      await (await engine)?.stop();
    },
    stats: {
      attempts,
      async endpoints() {
        const counts = await queries.countByStatus();
        return {
          enabled: 0,
          disabled: 0,
          ...Object.fromEntries(counts.map(({ status, count }) => [status, count])),
        };
      },
      waiting: async () => (await queries.countAllOpen())?.count ?? 0,
      failing: async () => (await queries.countFailing())?.count ?? 0,
      async lagSeconds() {
        const enabled = new Set((await queries.listEnabled()).map(({ id }) => String(id)));
        const due = (await leasedJobs(database).listDueLanes(deliveryKind, clock.now()))
          .filter(({ lane }) => enabled.has(lane))
          .map(({ due_at }) => clock.now() - Date.parse(due_at));
        return Math.max(0, ...due) / 1000;
      },
    },
  };
}

/**
 * The first time after `after` at which an endpoint has an attempt that may run, for a clock that is moved from one to
 * the next; null without one.
 */
async function findNextAttempt(sql: Sql, after: number): Promise<number | null> {
  const enabled = (await endpointQueries(sql).list()).filter(({ status }) => status === 'enabled');
  const { paused = [], open = [] } = Object.groupBy(enabled, (endpoint) =>
    isPaused(endpoint, after) ? 'paused' : 'open',
  );
  const lanesOf = (endpoints: typeof enabled) => endpoints.map(({ id }) => toLane(id).lane);
  const next = open.length === 0 ? [] : await leasedJobs(sql).listNextDue(deliveryKind, lanesOf(open), after);
  const states =
    paused.length === 0 ? [] : await leasedJobs(sql).listLaneStates(deliveryKind, lanesOf(paused));
  const afterPauses = states.map(({ lane, due_at }) => {
    const end = paused.find(({ id }) => toLane(id).lane === lane)?.paused_until ?? null;
    return due_at === null || end === null || due_at > end ? due_at : end;
  });
  return firstTimeOf([...next.map(({ due_at }) => due_at), ...afterPauses]);
}

/** The first of the times in milliseconds since the epoch; null without any. */
function firstTimeOf(times: readonly (string | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known.map((time) => Date.parse(time)));
}

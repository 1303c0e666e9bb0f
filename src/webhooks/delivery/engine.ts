/** Sends webhooks: a loop that queues deliveries of new events, and the outbox that sends them. Loaded when needed. */
import { forEachBlock } from '../../blocks.ts';
import { type Clock, machineTime } from '../../clock.ts';
import type { Origin } from '../../database/context.ts';
import type { Database } from '../../database/database.ts';
import type { EventHub } from '../../event-log/reading/hub.ts';
import { readLogState } from '../../event-log/reading/log-reader.ts';
import type { Loops } from '../../jobs/loops.ts';
import { createOutbox } from '../../jobs/outbox.ts';
import type { Log } from '../../log.ts';
import type { Config } from '../../settings/config.ts';
import { type EndpointRow, webhookQueries } from '../queries.ts';
import { createWebhookSender } from '../requests/sender.ts';
import { createEndpointSecrets } from '../secrets.ts';
import { advancingTimeoutMs, createDeliveryContent } from './delivery.ts';
import { addMissingJobsAfter, toLane } from './delivery-order.ts';
import { type FanOutResult, fanOut } from './fan-out.ts';
import type { Outcome } from './results.ts';

/** Wait before a check for endpoints that another instance registered or enabled. */
const recheckMs = 5000;
const retryMs = 1000;
/** Endpoints whose deliveries are queued at once, so that connections of the pool are left for requests. */
const endpointsAtOnce = 4;
/** Wait after an endpoint that another transaction had locked. */
const lockedMs = 20;
/**
 * Each look at an endpoint counts its waiting deliveries, in 0.1 to 0.4 us each. An endpoint with more than these is looked
 * at less often: new events wait half a millisecond for each waiting delivery, in which fewer deliveries are sent.
 */
const longBacklog = 1000;
const waitMsOfDelivery = 0.5;

export interface WebhookDependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'error'>;
  readonly loops: Loops;
  readonly hub: EventHub;
  readonly config: Pick<Config, 'webhookTargets' | 'secret' | 'deliveryRetentionMs'>;
  /** Version of Curd, for the header User-Agent. */
  readonly version: string;
  /** Origin of changes that no request makes. */
  readonly origin: Origin;
}

export type WebhookEngine = ReturnType<typeof createWebhookEngine>;

export function createWebhookEngine(
  { database, clock, log, loops, hub, config, version, origin }: WebhookDependencies,
  onOutcome: (outcome: Outcome) => void,
) {
  const sender = createWebhookSender(config.webhookTargets, () => machineTime(clock));
  const secrets = createEndpointSecrets(clock, config.secret);
  const content = createDeliveryContent({ clock, log, secrets, sender, origin, version, onOutcome });
  const outbox = createOutbox({ database, clock, log, loops }, content);
  /** Endpoints with long backlogs, which are not looked at before a time. */
  const delays = new Map<number, number>();
  const fanOutLoop = loops.add('webhook.events', recheckMs);
  let waiting = new AbortController();
  let loop: Promise<void> | null = null;
  let isWoken = false;
  let isStopped = false;

  async function queueFor({ id }: Pick<EndpointRow, 'id'>): Promise<FanOutResult> {
    const result = await fanOut({ database, clock }, origin, id);
    if (result.queued > 0) {
      outbox.wake(toLane(id).lane);
    }
    if (result.open >= longBacklog && !result.hasMore) {
      delays.set(id, performance.now() + result.open * waitMsOfDelivery);
    }
    if (result.isExpired) {
      log.warn({ endpointId: id, reason: 'events_expired' }, 'a webhook endpoint was disabled');
    }
    return result;
  }

  /** One round: a page of events for each endpoint. Returns how long to wait for the next one. */
  async function round(): Promise<{ readonly after: number; readonly waitMs: number }> {
    const { last } = await readLogState(database);
    const now = performance.now();
    for (const [id, until] of delays) {
      if (until <= now) {
        delays.delete(id);
      }
    }
    const behind = (await webhookQueries(database).listEnabled()).filter(
      ({ id, position }) => position < last && !delays.has(id),
    );
    const results: FanOutResult[] = [];
    await forEachBlock(behind, endpointsAtOnce, async (block) => {
      results.push(...(await Promise.all(block.map(queueFor))));
    });
    if (results.some(({ hasMore }) => hasMore)) {
      return { after: last, waitMs: 0 };
    }
    const isLocked = results.some((result) => result.isLocked);
    const untilNext = Math.min(recheckMs, ...[...delays.values()].map((until) => until - performance.now()));
    return { after: last, waitMs: isLocked ? lockedMs : Math.max(1, untilNext) };
  }

  async function rounds(): Promise<void> {
    while (!isStopped) {
      waiting = new AbortController();
      isWoken = false;
      try {
        const { after, waitMs } = await fanOutLoop.measure(round);
        if (waitMs > 0 && !isWoken && !isStopped) {
          await hub.wait(after, waitMs, waiting.signal);
        }
      } catch (error) {
        log.error({ err: error }, 'deliveries of webhooks could not be queued; it is tried again');
        await hub.wait(Number.MAX_SAFE_INTEGER, retryMs, waiting.signal);
      }
    }
  }

  return {
    start() {
      loop ??= rounds();
      outbox.start();
    },
    /** An endpoint was registered or enabled, or has deliveries to be repeated. */
    wake(endpointId: number) {
      isWoken = true;
      delays.delete(endpointId);
      waiting.abort();
      outbox.wake(toLane(endpointId).lane);
    },
    /** Queues and sends all that is due now. @param mayContinue asked before further requests begin */
    async run(mayContinue?: () => boolean) {
      delays.clear();
      if (clock.isAdvancing()) {
        sender.shortenAll(advancingTimeoutMs);
      }
      while ((await round()).waitMs === 0) {}
      await outbox.run(mayContinue);
    },
    async addMissingJobs() {
      const endpoints = await webhookQueries(database).listEnabled();
      for (const { id } of endpoints) {
        for (let after: string | null = ''; after !== null; ) {
          const from: string = after;
          after = await database.transaction(async (tx) => {
            await webhookQueries(tx).lockEndpointForUpdate(id);
            return addMissingJobsAfter(tx, id, from, clock.now());
          });
        }
      }
    },
    async stop() {
      isStopped = true;
      waiting.abort();
      await loop;
      await outbox.stop();
      sender.close();
    },
  };
}

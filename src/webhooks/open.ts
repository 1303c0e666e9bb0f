/** Opens the webhooks: endpoints, deliveries, the worker that sends them. */
import type { KeyService } from '../auth/keys/service.ts';
import { createCursors } from '../cursor.ts';
import type { EventTypes } from '../event-log/event-types.ts';
import type { EventHub } from '../event-log/reading/hub.ts';
import type { EventService } from '../event-log/reading/service.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { byLabel, counter, gauge } from '../http/metrics/metrics.ts';
import { checkWebhooks } from './consistency-check.ts';
import { createDeliveryLog } from './delivery/deliveries.ts';
import { deliveryRoutes } from './delivery/delivery-routes.ts';
import { createReplayService } from './delivery/replays.ts';
import { createWebhookWorker } from './delivery/worker.ts';
import { webhookRoutes } from './routes.ts';
import { createEndpointSecrets } from './secrets.ts';
import { createEndpointService } from './service.ts';
import { createTestPing } from './test-ping.ts';

interface Dependencies extends AreaDependencies {
  readonly keys: KeyService;
  readonly hub: EventHub;
  readonly events: EventService;
  readonly eventTypes: EventTypes;
}

export function openWebhooks(dependencies: Dependencies) {
  const { database, clock, config, keys, events, eventTypes, contextOf } = dependencies;
  const secrets = createEndpointSecrets(clock, config.secret);
  const targets = config.webhookTargets;
  const endpoints = createEndpointService({ database, clock, secrets, targets, keys, events, eventTypes });
  const testPing = createTestPing({ database, clock, secrets, targets });
  const deliveries = createDeliveryLog(database, clock, createCursors(config.secret, 'webhook deliveries'));
  const replays = createReplayService({ database, clock, events, eventTypes });
  const worker = createWebhookWorker({ ...dependencies, origin: contextOf('system').origin });
  const { stats, wake } = worker;
  return {
    provides: { endpoints, webhookWorker: worker, webhookStats: stats },
    endpoints,
    testPing,
    deliveries,
    replays,
    worker,
    routes: [
      ...webhookRoutes({ keys, webhookEndpoints: endpoints, testPing, wake }),
      ...deliveryRoutes({ deliveries, replays, wake }),
    ],
    tasks: [worker.maintain, worker.purge],
    gauges: [
      counter(
        'curd_webhook_attempts_total',
        'Attempts to send webhooks by outcome: delivered, to be retried, given up.',
        () => byLabel('outcome', stats.attempts),
      ),
      gauge(
        'curd_webhook_delivery_lag_seconds',
        'Age of the oldest delivery that is due and not delivered.',
        stats.lagSeconds,
      ),
      gauge('curd_webhook_endpoints', 'Webhook endpoints by status.', async () =>
        byLabel('status', await stats.endpoints()),
      ),
    ],
    checks: [{ name: 'webhooks', run: (snapshot, _, now) => checkWebhooks(snapshot, secrets, now) }],
    start: worker.start,
    stop: worker.stop,
  } satisfies Area;
}

/**
 * Opens what helps to test an integration. A production shop has none of it: no route, job or task, so every path is 404
 * there, with and without a credential, and the header Sandbox-Simulate is never read.
 */
import type { Area } from '../http/area.ts';
import type { JobWorker } from '../jobs/worker.ts';
import type { ShopProfile } from '../shop/profile.ts';
import type { WebhookWorker } from '../webhooks/delivery/worker.ts';
import type { JobsBy } from './clock/forecast.ts';
import { clockRoutes } from './clock/routes.ts';
import { createClockService } from './clock/service.ts';
import { createSimulations } from './faults/simulations.ts';
import { openSnapshots } from './snapshots/open.ts';
import type { DemoFill } from './snapshots/reset.ts';
import type { TestState } from './test-state.ts';
import { openTriggers, type TriggerDependencies } from './triggers/open.ts';

interface Dependencies extends TriggerDependencies {
  /** It has the handlers of all areas. */
  readonly jobs: JobWorker;
  /** Handlers of jobs that change orders, by another clock. */
  readonly orderJobsBy: JobsBy;
  readonly webhookWorker: WebhookWorker;
  readonly demoFill: DemoFill;
  readonly profile: ShopProfile;
  /** null in production. */
  readonly testState: TestState | null;
}

export function openSandbox(dependencies: Dependencies) {
  const { config, testState, orderJobsBy, webhookWorker } = dependencies;
  const clock = createClockService({ ...dependencies, webhooks: webhookWorker, jobsBy: orderJobsBy });
  if (testState === null) {
    return { clock, simulate: null, triggers: null, snapshots: null } satisfies Area;
  }
  const simulations = createSimulations();
  const triggers = openTriggers(dependencies);
  const snapshots = openSnapshots({ ...dependencies, testState });
  return {
    clock,
    simulate: config.simulate === 'on' ? simulations.begin : null,
    snapshots,
    triggers: triggers.service,
    routes: [...clockRoutes(clock), ...triggers.routes, ...snapshots.routes],
    tasks: [clock.purge],
    gauges: simulations.gauges,
    close: snapshots.close,
    async stop() {
      clock.stop();
      await simulations.stop();
    },
  } satisfies Area;
}

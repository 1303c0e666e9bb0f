/**
 * Opens what helps to test an integration. A production shop has none of it: no route, job or task, so every path is 404
 * there, with and without a credential, and the header Sandbox-Simulate is never read.
 */
import type { Numbering } from '../event-log/numbering.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import type { JobWorker } from '../jobs/worker.ts';
import type { WebhookWorker } from '../webhooks/delivery/worker.ts';
import type { JobsBy } from './clock/forecast.ts';
import { clockRoutes } from './clock/routes.ts';
import { createClockService } from './clock/service.ts';
import { createSimulations } from './faults/simulations.ts';

interface Dependencies extends AreaDependencies {
  /** The handlers of all areas; a function, because this area is one of them. */
  readonly jobs: () => JobWorker;
  /** Handlers of jobs that change orders, by another clock. */
  readonly orderJobsBy: JobsBy;
  readonly webhooks: WebhookWorker;
  readonly numbering: Numbering;
}

export function openSandbox(dependencies: Dependencies) {
  const { config, jobs, orderJobsBy } = dependencies;
  const clock = createClockService({
    ...dependencies,
    jobs: {
      run: (mayContinue) => jobs().run(mayContinue),
      nextDueAt: (after) => jobs().nextDueAt(after),
      done: () => jobs().done(),
    },
    jobsBy: orderJobsBy,
  });
  if (config.environment === 'production') {
    return { clock, simulate: null } satisfies Area;
  }
  const simulations = createSimulations();
  return {
    clock,
    simulate: config.simulate === 'on' ? simulations.begin : null,
    routes: clockRoutes(clock),
    tasks: [clock.purge],
    gauges: simulations.gauges,
    async stop() {
      clock.stop();
      await simulations.stop();
    },
  } satisfies Area;
}

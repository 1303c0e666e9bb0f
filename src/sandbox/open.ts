/**
 * Opens what helps to test an integration. A production shop has none of it: no route, job or task, so every path is 404
 * there, with and without a credential, and the header Sandbox-Simulate is never read.
 */
import type { Area, AreaDependencies } from '../http/area.ts';
import { createSimulations } from './faults/simulations.ts';

type Dependencies = Pick<AreaDependencies, 'config'>;

export function openSandbox({ config }: Dependencies) {
  if (config.environment === 'production') {
    return { simulate: null } satisfies Area;
  }
  const simulations = createSimulations();
  return {
    simulate: config.simulate === 'on' ? simulations.begin : null,
    routes: [],
    gauges: simulations.gauges,
    stop: simulations.stop,
  } satisfies Area;
}

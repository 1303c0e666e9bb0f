/**
 * Opens what helps to test an integration. A production shop has none of it: no route, job or task, so every path is 404
 * there, with and without a credential.
 */
import type { Area, AreaDependencies } from '../http/area.ts';

type Dependencies = Pick<AreaDependencies, 'config'>;

export function openSandbox({ config }: Dependencies) {
  if (config.environment === 'production') {
    return {} satisfies Area;
  }
  return {
    routes: [],
  } satisfies Area;
}

/** Opens the request log. */
import { createCursors } from '../cursor.ts';
import { customerDeleted } from '../customers/hook-points.ts';
import { hookOn } from '../hooks/hooks.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { counter } from '../http/metrics/metrics.ts';
import { requestLogRoutes } from './routes.ts';
import { createRequestService } from './service.ts';
import { createRequestWriter } from './writer.ts';

interface Dependencies extends AreaDependencies {
  /** The name of this server process. */
  readonly instance: string;
}

export function openRequestLog({ config, database, clock, log, loops, instance }: Dependencies) {
  const isOn = config.requestLog === 'on';
  const service = createRequestService(database, clock, createCursors(config.secret, 'requests'), isOn);
  const { forgotten } = service;
  const writer = createRequestWriter({ database, clock, log, loops, instance, forgotten, isOn });
  return {
    service,
    recorder: writer,
    /** Writes what waits, once a second. */
    work: writer.work,
    routes: requestLogRoutes(service),
    hooks: [hookOn(customerDeleted, 'request', service.onCustomerDelete, service.forgetCustomer)],
    tasks: [() => service.purge(writer.takeOwners())],
    gauges: [
      counter(
        'curd_requests_unlogged_total',
        'Requests that the request log was to keep and did not, because there were too many or the database failed.',
        writer.unlogged,
      ),
    ],
    start: () => writer.work.start(),
    stop: () => writer.work.stop(),
    /** Writes what waits. */
    close: () => writer.work.run(),
  } satisfies Area;
}

/** Routes of the state of the server, for operators. */
import { anyOf, oauth } from '../auth/access.ts';
import { requireOperator } from '../auth/operator.ts';
import { type Route, route } from '../http/route.ts';
import { listDoctorRuns } from './integrity.ts';
import { DoctorRuns } from './integrity-schemas.ts';
import { ShopStatus } from './schemas.ts';
import { createStatusReader, type StatusDependencies } from './status.ts';

const tag = 'Administration';
const access = anyOf(oauth('admin'));
const headers = { 'Cache-Control': 'no-store' };

export function administrationRoutes(dependencies: StatusDependencies): Route[] {
  const readStatus = createStatusReader(dependencies);
  return [
    route({
      method: 'GET',
      path: '/status',
      operationId: 'getStatus',
      tag,
      summary: 'Read the state of the shop: instances, database, event log, settings, failed requests',
      description:
        'Figures are those of `/metrics`. No secret is in the response: `***` is in its place. Streams, memory, deprecated operations and failed requests are those of the instance that responds.',
      access,
      responses: { 200: { description: 'The state', schema: ShopStatus } },
      handle: async ({ principal }) => {
        requireOperator(principal);
        return { status: 200, headers, body: await readStatus() };
      },
    }),
    route({
      method: 'GET',
      path: '/integrity',
      operationId: 'listIntegrity',
      tag,
      summary: 'List the results of consistency checks, newest first',
      description:
        'Each run of `curd doctor` stores its result, unless it runs with `--no-record`; the last 30 are kept. The server does not run the checks itself, because they read the whole database.',
      access,
      responses: { 200: { description: 'The results', schema: DoctorRuns } },
      handle: async ({ principal }) => {
        requireOperator(principal);
        return { status: 200, headers, body: { items: await listDoctorRuns(dependencies.database) } };
      },
    }),
  ];
}

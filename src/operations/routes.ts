/** Routes of the state of the server, for operators. */
import { anyOf, oauth } from '../access/access.ts';
import { badRequestResponse } from '../http/responses/error-responses.ts';
import { uncached } from '../http/responses/response.ts';
import { type Route, route } from '../http/route.ts';
import { listDoctorRuns } from './integrity.ts';
import { DoctorRuns } from './integrity-schemas.ts';
import { findNames, mentionRule, type NameDependencies } from './names.ts';
import { NameList, ShopStatus } from './schemas.ts';
import { createStatusReader, type StatusDependencies } from './status.ts';

const tag = 'Administration';
const access = anyOf(oauth('admin'));

export function administrationRoutes(dependencies: StatusDependencies & NameDependencies): Route[] {
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
      handle: async () => uncached(200, await readStatus()),
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
      handle: async () => uncached(200, { items: await listDoctorRuns(dependencies.database) }),
    }),
    route({
      method: 'GET',
      path: '/names',
      operationId: 'listNames',
      tag,
      summary: 'List the names of actors and subjects of events',
      description:
        'A cheese and a client have a name, a customer has a username. A key without a name is named by its account and its last four characters, an order by its id. `order-customer:31` is who order 31 is for: first and last name, or the username where both are empty; nobody where no customer placed it. An actor of two parts, such as `client:ab12/customer:5`, is asked for in its parts. What does not exist has no item.',
      access,
      query: {
        of: {
          type: 'array',
          isRequired: true,
          maxItems: 100,
          items: { type: 'string', rule: mentionRule, examples: ['key:1', 'cheese:12'] },
          description: 'Kinds with ids, separated by commas: `key:2,customer:5`',
        },
      },
      examples: { of: 'key:1,cheese:12' },
      responses: {
        200: { description: 'The names', schema: NameList },
        ...badRequestResponse('A parameter is not valid'),
      },
      handle: async ({ query }) => uncached(200, { items: await findNames(dependencies, query.of) }),
    }),
  ];
}

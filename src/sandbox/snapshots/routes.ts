/** Resets and snapshots over HTTP. */
import { anyOf, oauth } from '../../access/access.ts';
import { parsePathId } from '../../http/pipeline/path-id.ts';
import {
  conflictResponse,
  notFoundResponse,
  unavailableResponse,
  unprocessableResponse,
} from '../../http/responses/error-responses.ts';
import { type Route, route } from '../../http/route.ts';
import type { ResetShop } from './reset.ts';
import { ResetInput, ShopTime, Snapshot, SnapshotInput, SnapshotList } from './schemas.ts';
import type { SnapshotService } from './service.ts';

const tag = 'Sandbox';
const path = '/sandbox/snapshots';
const access = anyOf(oauth('admin'));
const headers = { 'Cache-Control': 'no-store' };
const missing = notFoundResponse('There is no such snapshot');
const busy = 'The shop is being reset, copied or restored';
const time = (description: string) => ({ description, schema: ShopTime });
// What they do is in several transactions, and the last one stores the response.
const outsideOfOneTransaction = { replay: 'beforeWork', dryRun: 'none', storesPlainResponse: true } as const;
const waiting =
  'Changes by others wait meanwhile, for 10 seconds at most, and are then 503. Reads return what was before until it ends.';

const snapshotId = (params: Readonly<Record<string, string>>) =>
  parsePathId(params.snapshotId, 'There is no such snapshot.');

export function snapshotRoutes(snapshots: SnapshotService, reset: ResetShop): Route[] {
  return [
    route({
      method: 'POST',
      path: '/sandbox/reset',
      operationId: 'resetSandbox',
      tag,
      summary: 'Reset the shop',
      description: `Deletes cheeses, orders, discount codes, customers and their sessions, and fills in the demo catalogue and the ten test orders, like \`curd reset\`. Accounts, keys, applications, webhook endpoints, delivery methods, tax rates and snapshots stay. Ids of cheeses and orders continue. ${waiting}`,
      access,
      ...outsideOfOneTransaction,
      body: ResetInput,
      responses: {
        200: time('The shop is like new'),
        ...conflictResponse(`${busy}, or has live keys, as production shops do`),
        ...unprocessableResponse,
        ...unavailableResponse('Another process kept the database busy. Nothing was changed'),
      },
      handle: ({ withIdempotency }) =>
        withIdempotency(reset, (now) => ({ status: 200, headers, body: { now } })),
    }),
    route({
      method: 'GET',
      path,
      operationId: 'listSnapshots',
      tag,
      summary: 'List snapshots of the shop',
      description: 'The oldest first. There are ten at most.',
      access,
      responses: { 200: { description: 'The snapshots', schema: SnapshotList } },
      handle: async () => ({ status: 200, headers, body: { items: await snapshots.list() } }),
    }),
    route({
      method: 'POST',
      path,
      operationId: 'createSnapshot',
      tag,
      summary: 'Make a snapshot of the shop',
      description:
        'A snapshot has everything but accounts, keys, applications, grants, approvals and rate limits: cheeses with their images, orders, customers, sessions, events, webhook endpoints with their deliveries, background jobs, and the clock. On PostgreSQL, changes by others wait meanwhile.',
      access,
      ...outsideOfOneTransaction,
      body: SnapshotInput,
      responses: {
        201: { description: 'The snapshot', schema: Snapshot },
        ...conflictResponse(
          `There are ten snapshots, the shop is larger than 1 GiB, or ${busy.toLowerCase()}`,
        ),
        ...unprocessableResponse,
        ...unavailableResponse('The disk is full, or another process kept the database busy'),
      },
      handle: ({ body, withIdempotency }) =>
        withIdempotency(
          (context) => snapshots.create(context, body.name),
          (snapshot) => ({ status: 201, headers, body: { ...snapshot } }),
        ),
    }),
    route({
      method: 'POST',
      path: `${path}/:snapshotId/restore`,
      operationId: 'restoreSnapshot',
      tag,
      summary: 'Bring the shop back to a snapshot',
      description: `What was changed since then is gone, and the next ids are those of then. Accounts, keys, applications and rate limits stay as they are now; so do grants and approvals, except those of customers who are not in the snapshot. All ETags change. Positions in the event log and in the list of changes are 410 \`log_rewound\`. ${waiting}`,
      access,
      ...outsideOfOneTransaction,
      responses: {
        200: time('The shop is as it was'),
        ...missing,
        ...conflictResponse(`${busy}, it has live keys, or the snapshot cannot be used any more`),
        ...unavailableResponse('Another process kept the database busy. Nothing was changed'),
      },
      handle: ({ params, withIdempotency }) =>
        withIdempotency(
          (context) => snapshots.restore(context, snapshotId(params)),
          (now) => ({ status: 200, headers, body: { now } }),
        ),
    }),
    route({
      method: 'DELETE',
      path: `${path}/:snapshotId`,
      operationId: 'deleteSnapshot',
      tag,
      summary: 'Delete a snapshot',
      description: 'Frees its space. The shop does not change.',
      access,
      dryRun: 'none',
      responses: { 204: { description: 'It was deleted' }, ...missing, ...conflictResponse(busy) },
      handle: async ({ params, context }) => {
        await snapshots.delete(context, snapshotId(params));
        return { status: 204 };
      },
    }),
  ];
}

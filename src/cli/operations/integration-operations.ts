/** Commands on webhooks, the request log, and what helps to test an integration. */
import { commandName } from '../../command-name.ts';
import { pluralize } from '../framework/output.ts';
import type { OperationCommand, Result } from './operation.ts';
import { requestLine } from './request-line.ts';

const endpointSecret = ({ secret }: Result) => secret;
const secretText = ({ id }: Result) =>
  `This is the secret of endpoint ${id}. Keep it: it is not shown again.`;

export const integrationOperations: readonly OperationCommand[] = [
  {
    name: 'webhooks create',
    operation: 'createWebhookEndpoint',
    takes: ['url'],
    requires: ['account'],
    help: 'A running server sends the first events within a minute. Without --types, it sends those that every API key sees.',
    examples: ['webhooks create https://shop.example/hook --account shop --types "order.*"'],
    secret: endpointSecret,
    says: secretText,
  },
  {
    name: 'webhooks list',
    operation: 'listWebhookEndpoints',
    examples: ['webhooks list'],
    columns: {
      id: 'id',
      account: 'account',
      status: ({ status, disabledReason }) =>
        disabledReason === null ? status : `${status}: ${disabledReason}`,
      waiting: 'waiting',
      types: ({ types }) => types?.join(' ') ?? 'default',
      url: 'url',
    },
    none: 'There are no webhook endpoints.',
  },
  {
    name: 'webhooks rotate-secret',
    operation: 'rotateWebhookEndpointSecret',
    help: 'It also repairs an endpoint whose secret cannot be read because CURD_SECRET was changed.',
    examples: ['webhooks rotate-secret 1 --overlap 1h'],
    secret: endpointSecret,
    says: secretText,
  },
  {
    name: 'webhooks enable',
    operation: 'enableWebhookEndpoint',
    examples: ['webhooks enable 1'],
    says: ({ id }) => `Endpoint ${id} is enabled. A running server notices it within a minute.`,
  },
  {
    name: 'webhooks disable',
    operation: 'disableWebhookEndpoint',
    examples: ['webhooks disable 1'],
    says: ({ id }) => `Endpoint ${id} is disabled, and keeps its position.`,
  },
  {
    name: 'webhooks delete',
    operation: 'deleteWebhookEndpoint',
    examples: ['webhooks delete 1'],
    json: ({ endpointId: id }) => ({ id, deleted: true }),
    says: (_, { endpointId }) => `Endpoint ${endpointId} and its deliveries are deleted.`,
  },
  {
    name: 'webhooks test',
    operation: 'testWebhookEndpoint',
    help: 'Exit status 2: the receiver did not accept it.',
    examples: ['webhooks test 1'],
    says: ({ error, status, durationMs }) =>
      `${error ?? `accepted with status ${status}`} (${durationMs} ms)`,
    failed: ({ error }) => error !== null,
  },
  {
    name: 'webhooks deliver',
    operation: 'deliverWebhookEndpoint',
    help: 'Ends a pause, and makes all deliveries due that wait for their next attempt.',
    examples: ['webhooks deliver 1'],
    says: ({ deliveries }) => `Deliveries that will be sent now: ${deliveries}.`,
  },
  {
    name: 'webhooks deliveries',
    operation: 'listWebhookDeliveries',
    limit: 20,
    printsItemsOnly: true,
    examples: ['webhooks deliveries 1 --status failed'],
    columns: {
      id: 'id',
      event: 'eventId',
      type: 'type',
      kind: 'kind',
      status: 'status',
      attempts: 'attemptCount',
      'last result': ({ lastError, lastStatus }) => lastError ?? lastStatus,
      'waits for': ({ waitingFor, dueAt }) =>
        waitingFor === null ? null : [waitingFor, dueAt].filter(Boolean).join(' '),
      created: 'createdAt',
    },
    none: 'There are no such deliveries.',
  },
  {
    name: 'webhooks retry',
    operation: 'retryWebhookDelivery',
    examples: ['webhooks retry 31'],
    says: ({ deliveryId }) => `Delivery ${deliveryId} sends the event.`,
  },
  {
    name: 'webhooks replay',
    operation: 'replayWebhookEndpoint',
    help: 'The ids are the same as before, so a receiver that remembers ids can ignore what it has.',
    examples: ['webhooks replay 1 --since 2026-01-15T09:00:00Z'],
    says: ({ deliveries }) => `${pluralize(deliveries, 'event')} will be sent again.`,
  },
  {
    name: 'requests list',
    operation: 'listRequests',
    limit: 20,
    help: 'Changes, errors, slow requests, and those with an X-Request-Id of the client.',
    examples: ['requests list --status 5xx'],
    line: requestLine,
  },
  {
    name: 'requests show',
    operation: 'getRequest',
    help: 'Always JSON; with --json on one line.',
    examples: ['requests show probe-1'],
    says: (result) => JSON.stringify(result, null, 2),
  },
  {
    name: 'clock show',
    operation: 'getSandboxClock',
    examples: ['clock show'],
    says: ({ now, advancedBy, movable }) =>
      movable
        ? `${now}, which is ${advancedBy} ahead of the machine`
        : `${now}, the time of the machine: CURD_CLOCK=movable lets you move it`,
  },
  {
    name: 'snapshots create',
    operation: 'createSnapshot',
    takes: ['name'],
    help: 'A shop has ten at most. They are not backups: they are stored with the database. It works while a server runs.',
    examples: ['snapshots create "before the tests"'],
    says: ({ id }) =>
      `Snapshot ${id} is made. To go back to it: ${commandName} snapshots restore ${id} --yes`,
  },
  {
    name: 'snapshots list',
    operation: 'listSnapshots',
    examples: ['snapshots list'],
    columns: {
      id: 'id',
      name: 'name',
      created: 'createdAt',
      size: ({ bytes }) => `${(bytes / 1e6).toFixed(1)} MB`,
    },
    none: 'There are no snapshots.',
  },
  {
    name: 'snapshots restore',
    operation: 'restoreSnapshot',
    help: 'Accounts, keys, applications and rate limits stay as they are now. It works while a server runs.',
    examples: ['snapshots restore 1 --yes'],
    json: ({ snapshotId: restored }, { now }) => ({ restored, now }),
    loses: 'what was changed since the snapshot is deleted',
    says: () => 'The shop is as it was. Accounts, keys and applications are as they are now.',
  },
  {
    name: 'snapshots delete',
    operation: 'deleteSnapshot',
    examples: ['snapshots delete 1'],
    json: ({ snapshotId: deleted }) => ({ deleted }),
    says: (_, { snapshotId }) => `Snapshot ${snapshotId} is deleted.`,
  },
];

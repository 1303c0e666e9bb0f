import type { Versioned } from '../../../versioned.ts';
import type { EndpointWithSecret } from '../../../webhooks/service.ts';
import type {
  createEndpointOptions,
  enableEndpointOptions,
  listDeliveriesOptions,
  replayOptions,
  rotateSecretOptions,
} from '../../framework/event-options.ts';
import type { CommandOptions, OptionsOf } from '../../framework/options.ts';
import { pluralize, printResult, printSecret, printTable } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';

const failedExitCode = 2;

/** Registers a URL and prints the secret once. */
export function createEndpoint(url: string, options: OptionsOf<typeof createEndpointOptions>): Promise<void> {
  return withShop(options, async ({ auth: { keys }, webhooks: { endpoints }, contextOf }) => {
    const account = await keys.findAccount(options.account);
    const { types, description } = options;
    const endpoint = await endpoints.create(contextOf('cli'), account.id, {
      url,
      ...(types === undefined ? {} : { types }),
      ...(description === undefined ? {} : { description }),
    });
    printNewSecret(options, endpoint);
  });
}

export function listEndpoints(options: CommandOptions): Promise<void> {
  return withShop(options, async ({ webhooks: { endpoints } }) => {
    const items = (await endpoints.list()).map((text) => JSON.parse(text));
    printTable(
      options,
      items,
      {
        id: ({ id }) => id,
        account: ({ account }) => account,
        status: ({ status, disabledReason }) =>
          disabledReason === null ? status : `${status}: ${disabledReason}`,
        waiting: ({ waiting }) => waiting,
        types: ({ types }) => (types === null ? 'default' : types.join(' ')),
        url: ({ url }) => url,
      },
      'There are no webhook endpoints.',
    );
  });
}

/** Replaces the secret and prints the new one once. */
export function rotateSecret(id: number, options: OptionsOf<typeof rotateSecretOptions>): Promise<void> {
  return withShop(options, async ({ webhooks: { endpoints }, contextOf }) => {
    printNewSecret(options, await endpoints.rotateSecret(contextOf('cli'), id, options.overlap));
  });
}

export function enableEndpoint(id: number, options: OptionsOf<typeof enableEndpointOptions>): Promise<void> {
  return withShop(options, async ({ webhooks: { endpoints }, contextOf }) => {
    const endpoint = await endpoints.enable(contextOf('cli'), id, options.skip);
    printEndpoint(
      options,
      endpoint,
      `Endpoint ${id} is enabled. A running server notices it within a minute.`,
    );
  });
}

export function stopEndpoint(id: number, options: CommandOptions): Promise<void> {
  return withShop(options, async ({ webhooks: { endpoints }, contextOf }) => {
    const endpoint = await endpoints.disable(contextOf('cli'), id);
    printEndpoint(options, endpoint, `Endpoint ${id} is disabled, and keeps its position.`);
  });
}

export function deleteEndpoint(id: number, options: CommandOptions): Promise<void> {
  return withShop(options, async ({ webhooks: { endpoints }, contextOf }) => {
    await endpoints.delete(contextOf('cli'), id);
    printResult(options, { id, deleted: true }, `Endpoint ${id} and its deliveries are deleted.`);
  });
}

/** Sends a test ping. Exit status 2: the receiver did not accept it. */
export function testEndpoint(id: number, options: CommandOptions): Promise<void> {
  return withShop(options, async ({ webhooks: { testPing }, contextOf }) => {
    const result = await testPing(contextOf('cli'), id);
    const outcome = result.error ?? `accepted with status ${result.status}`;
    printResult(options, result, `${outcome} (${result.durationMs} ms)`);
    if (result.error !== null) {
      process.exitCode = failedExitCode;
    }
  });
}

/** Makes due what waits for an endpoint. A running server sends it at once. */
export function deliverNow(id: number, options: CommandOptions): Promise<void> {
  return withShop(options, async ({ webhooks: { replays }, contextOf }) => {
    const count = await replays.deliverNow(contextOf('cli'), id);
    printResult(options, { deliveries: count }, `Deliveries that will be sent now: ${count}.`);
  });
}

export function listDeliveries(id: number, options: OptionsOf<typeof listDeliveriesOptions>): Promise<void> {
  return withShop(options, async ({ webhooks: { deliveries } }) => {
    const { items } = await deliveries.list(id, { status: options.status, limit: options.limit });
    printTable(options, items, {
      id: ({ id }) => id,
      event: ({ eventId }) => eventId,
      type: ({ type }) => type,
      kind: ({ kind }) => kind,
      status: ({ status }) => status,
      attempts: ({ attemptCount }) => attemptCount,
      'last result': ({ lastError, lastStatus }) => lastError ?? lastStatus,
      'waits for': ({ waitingFor, dueAt }) =>
        waitingFor === null ? null : [waitingFor, dueAt].filter(Boolean).join(' '),
      created: ({ createdAt }) => createdAt,
    });
  });
}

export function retryDelivery(id: number, options: CommandOptions): Promise<void> {
  return withShop(options, async ({ webhooks: { replays }, contextOf }) => {
    const { deliveryId } = await replays.retry(contextOf('cli'), id);
    printResult(options, { deliveryId }, `Delivery ${deliveryId} sends the event.`);
  });
}

export function replayEvents(id: number, options: OptionsOf<typeof replayOptions>): Promise<void> {
  return withShop(options, async ({ webhooks: { replays }, contextOf }) => {
    const { since, until, types } = options;
    const count = await replays.replay(contextOf('cli'), id, {
      since,
      ...(until === undefined ? {} : { until }),
      ...(types === undefined ? {} : { types }),
    });
    printResult(options, { deliveries: count }, `${pluralize(count, 'event')} will be sent again.`);
  });
}

function printNewSecret(options: CommandOptions, { id, secret, body }: EndpointWithSecret): void {
  printSecret(
    options,
    secret,
    JSON.parse(body),
    `This is the secret of endpoint ${id}. Keep it: it is not shown again.`,
  );
}

function printEndpoint(options: CommandOptions, { body }: Versioned, text: string): void {
  printResult(options, JSON.parse(body), text);
}

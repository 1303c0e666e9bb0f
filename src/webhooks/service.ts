/** Webhook endpoints: registration, changes, secrets, and whether they get events. */
import type { KeyService } from '../auth/keys/service.ts';
import { type Clock, timestamp } from '../clock.ts';
import { commandName } from '../command-name.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { advisoryLock } from '../database/sql.ts';
import { AppError, requireNoErrors, validationError } from '../errors.ts';
import type { NewEvent } from '../event-log/define.ts';
import type { EventTypes } from '../event-log/event-types.ts';
import { readLogState } from '../event-log/reading/log-reader.ts';
import { positionAt } from '../event-log/reading/positions.ts';
import type { EventService } from '../event-log/reading/service.ts';
import { recordEvents } from '../event-log/record.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { skipWaiting, wakeWaiting } from './delivery/delivery-order.ts';
import { type Backlog, emptyBacklog, readBacklogs } from './delivery/waiting.ts';
import { requireFound, resolvePosition, toEndpoint, unknownTypeErrors } from './endpoint.ts';
import { endpointQueries } from './endpoint-queries.ts';
import { webhookEvents } from './event-types.ts';
import { type EndpointRow, webhookQueries } from './queries.ts';
import type { WebhookTargets } from './requests/sender.ts';
import type { WebhookEndpointChange, WebhookEndpointInput } from './schemas.ts';
import { activeSecrets, type EndpointSecrets, parseSecrets, secretUnreadable } from './secrets.ts';

/** Endpoints of an account. */
export const endpointsMax = 20;
const overlapMsMax = 7 * 86_400_000;

/** An endpoint with its new secret, which is shown only once. */
export interface EndpointWithSecret extends Versioned {
  readonly secret: string;
}

export type EndpointService = ReturnType<typeof createEndpointService>;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly keys: KeyService;
  readonly events: EventService;
  readonly eventTypes: EventTypes;
  readonly secrets: EndpointSecrets;
  readonly targets: WebhookTargets;
}

export function createEndpointService(dependencies: Dependencies) {
  const { database, clock, keys, events, eventTypes, secrets, targets } = dependencies;
  const now = () => timestamp(clock.now());

  /** A row, and what responses contain besides it, read before a transaction. @throws AppError notFound */
  async function readWithSurroundings(id: number) {
    const row = requireFound(await webhookQueries(database).findEndpoint(id));
    const [account, state] = await Promise.all([
      keys.findAccountById(row.account_id),
      readLogState(database),
    ]);
    return { row, account: account?.name ?? '', state };
  }

  function shown(
    row: EndpointRow,
    account: string,
    backlog: Backlog | undefined,
    epochs: Parameters<typeof positionAt>[1],
  ) {
    const position = positionAt(row.position, epochs);
    return toEndpoint(row, { account, backlog: backlog ?? emptyBacklog, position, now: clock.now() });
  }

  function record(tx: Sql, { origin }: Context, event: NewEvent): Promise<void> {
    return recordEvents(tx, origin, now(), [event]);
  }

  /**
   * Changes a locked endpoint. `work` returns the changed row, or null if there is nothing to change.
   * @param complete adds to the result inside the transaction, in which the response is stored
   * @throws AppError notFound, preconditionFailed
   */
  async function change<T extends Versioned = Versioned>(
    context: Context,
    id: number,
    precondition: Precondition | undefined,
    work: (tx: Sql, row: EndpointRow, first: number) => Promise<Partial<EndpointRow> | null>,
    event = webhookEvents.updated.of(subjectOf(id), { id }),
    complete = (endpoint: Versioned) => endpoint as T,
  ): Promise<T> {
    const { account, state } = await readWithSurroundings(id);
    return context.transaction(async (tx) => {
      const row = requireFound(await webhookQueries(tx).lockEndpointForUpdate(id));
      precondition?.(row.version);
      const changes = await work(tx, row, state.first);
      const changed = { ...row, ...changes };
      if (changes !== null) {
        changed.version += 1;
        changed.updated_at = now();
        await endpointQueries(tx).update(changed);
        await record(tx, context, event);
      }
      const backlogs = await readBacklogs(tx, [changed], clock.now());
      return complete(shown(changed, account, backlogs.get(id), state.epochs));
    });
  }

  /** @throws AppError validation */
  async function requireValid(url: string | undefined, types: readonly string[] | null): Promise<void> {
    const message =
      url === undefined ? null : await (await import('./requests/sender.ts')).findTargetError(url, targets);
    requireNoErrors([
      ...(message === null ? [] : [{ field: 'url', message }]),
      ...unknownTypeErrors(eventTypes, types),
    ]);
  }

  return {
    /** Endpoints as JSON. @param account all accounts without it @throws AppError notFound */
    async list(account?: string) {
      const rows =
        account === undefined
          ? await endpointQueries(database).list()
          : await endpointQueries(database).listOfAccount((await keys.findAccount(account)).id);
      if (rows.length === 0) {
        return [];
      }
      const [accounts, { epochs }, backlogs] = await Promise.all([
        keys.listAccounts(),
        readLogState(database),
        readBacklogs(database, rows, clock.now()),
      ]);
      const names = new Map(accounts.map(({ id, name }) => [id, name]));
      return rows.map(
        (row) => shown(row, names.get(row.account_id) ?? '', backlogs.get(row.id), epochs).body,
      );
    },

    /** @throws AppError notFound */
    async find(id: number) {
      const { row, account, state } = await readWithSurroundings(id);
      const backlogs = await readBacklogs(database, [row], clock.now());
      return shown(row, account, backlogs.get(id), state.epochs);
    },

    /** @throws AppError validation, conflict, eventsExpired, logRewound */
    async create(
      context: Context,
      accountId: number,
      { url, types, description = null, since = 'latest' }: WebhookEndpointInput,
    ) {
      await requireValid(url, types ?? null);
      const position = await resolvePosition(events, 'since', since);
      const [account, { epochs }] = await Promise.all([
        keys.findAccountById(accountId),
        readLogState(database),
      ]);
      return context.transaction(async (tx) => {
        await tx.get(advisoryLock('webhook endpoints of account', accountId));
        if ((await endpointQueries(tx).countOfAccount(accountId)) >= endpointsMax) {
          throw new AppError(
            'conflict',
            `The account has ${endpointsMax} webhook endpoints already. Delete one first: DELETE /v2/webhook-endpoints/{endpointId} or "${commandName} webhooks delete <id>".`,
          );
        }
        const inserted = (await endpointQueries(tx).insert({
          account_id: accountId,
          url,
          types: types ? JSON.stringify([...new Set(types)]) : null,
          description,
          position,
          created_at: now(),
        })) as EndpointRow;
        const { text, stored } = secrets.create(inserted.id);
        const row = { ...inserted, secrets: JSON.stringify([stored]) };
        await endpointQueries(tx).updateSecrets(row.id, row.secrets);
        await record(tx, context, webhookEvents.created.of(subjectOf(row.id), { id: row.id }));
        return withSecret(shown(row, account?.name ?? '', undefined, epochs), text);
      });
    },

    /** @throws AppError notFound, validation, preconditionFailed */
    async update(
      context: Context,
      id: number,
      { url, types, description }: WebhookEndpointChange,
      precondition?: Precondition,
    ) {
      await requireValid(url, types ?? null);
      return change(context, id, precondition, async (tx, row) => {
        const changes = {
          url: url ?? row.url,
          types:
            types === undefined ? row.types : types === null ? null : JSON.stringify([...new Set(types)]),
          description: description === undefined ? row.description : description,
        };
        if (changes.url !== row.url) {
          // Another URL is another receiver: it gets at once what waits, and the failures of the old one do not count.
          await wakeWaiting(tx, id, clock.now());
          return { ...changes, ...withoutFailures };
        }
        const isSame = changes.types === row.types && changes.description === row.description;
        return isSame ? null : changes;
      });
    },

    /** @throws AppError notFound, preconditionFailed */
    delete: (context: Context, id: number, precondition?: Precondition) =>
      context.transaction(async (tx) => {
        const row = requireFound(await webhookQueries(tx).lockEndpointForUpdate(id));
        precondition?.(row.version);
        await endpointQueries(tx).delete(id);
        await record(tx, context, webhookEvents.deleted.of(subjectOf(id), { id }));
      }),

    /** The old secret signs too until the overlap ends. @throws AppError notFound, conflict, validation, preconditionFailed */
    async rotateSecret(context: Context, id: number, overlapMs: number, precondition?: Precondition) {
      if (overlapMs > overlapMsMax) {
        throw validationError([{ field: 'overlap', message: 'must be at most 7d' }]);
      }
      let text = '';
      const rotate = async (tx: Sql, row: EndpointRow) => {
        const readable = activeSecrets(parseSecrets(row.secrets), clock.now()).filter((secret) =>
          secrets.isReadable(id, secret),
        );
        if (overlapMs > 0 && readable.length > 1) {
          throw new AppError(
            'conflict',
            `An earlier rotation overlaps until ${readable[1]?.endsAt}. Wait until then, or rotate with the overlap 0s, which ends both secrets immediately.`,
          );
        }
        const created = secrets.create(id);
        text = created.text;
        const endsAt = timestamp(clock.now() + overlapMs);
        const old = overlapMs === 0 ? [] : readable.map((secret) => ({ ...secret, endsAt }));
        const isRepaired = row.disabled_reason === 'secret_unreadable';
        if (isRepaired) {
          await wakeWaiting(tx, id, clock.now());
        }
        return {
          secrets: JSON.stringify([created.stored, ...old]),
          ...(isRepaired ? ({ status: 'enabled', disabled_reason: null } as const) : {}),
        };
      };
      return change(context, id, precondition, rotate, undefined, (changed) => withSecret(changed, text));
    },

    /**
     * Continues at the position of the endpoint, or with `skip` after the newest event. An enabled endpoint is not changed.
     * @throws AppError notFound, conflict, preconditionFailed
     */
    async enable(context: Context, id: number, skip: boolean, precondition?: Precondition) {
      const latest = skip ? await events.resolve('latest') : null;
      return change(context, id, precondition, async (tx, row, first) => {
        if (row.status === 'enabled') {
          return null;
        }
        const readable = activeSecrets(parseSecrets(row.secrets), clock.now());
        if (!readable.every((secret) => secrets.isReadable(id, secret))) {
          throw new AppError('conflict', secretUnreadable);
        }
        if (latest === null && row.position < first - 1) {
          throw new AppError(
            'conflict',
            'The log has removed events that the endpoint has not received. Enable it with "skip": true, and read from the API what it missed.',
          );
        }
        await (latest === null ? wakeWaiting : skipWaiting)(tx, id, clock.now());
        const position = latest === null ? row.position : Math.max(latest, row.position);
        return { status: 'enabled', disabled_reason: null, position, ...withoutFailures };
      });
    },

    /** A disabled endpoint is not changed. @throws AppError notFound, preconditionFailed */
    disable: (context: Context, id: number, precondition?: Precondition) =>
      change(
        context,
        id,
        precondition,
        async (_, row) =>
          row.status === 'disabled' ? null : { status: 'disabled', disabled_reason: 'on_request' },
        webhookEvents.disabled.of(subjectOf(id), { id, reason: 'on_request' }),
      ),
  };
}

const subjectOf = (id: number) => `webhook_endpoint:${id}`;
const withoutFailures = { failing_since: null, failures_in_row: 0, paused_until: null, pause_ms: 0 } as const;

function withSecret({ id, version, body }: Versioned, secret: string): EndpointWithSecret {
  return { id, version, secret, body: `${body.slice(0, -1)},"secret":${JSON.stringify(secret)}}` };
}

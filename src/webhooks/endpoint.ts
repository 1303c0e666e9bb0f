/** Webhook endpoints as responses show them. */
import { AppError, type FieldError, requireNoErrors, validationError } from '../errors.ts';
import type { EventTypes } from '../event-log/event-types.ts';
import type { EventService } from '../event-log/reading/service.ts';
import type { Versioned } from '../versioned.ts';
import type { Backlog } from './delivery/waiting.ts';
import type { EndpointRow } from './queries.ts';
import { activeSecrets, parseSecrets } from './secrets.ts';

export const noEndpoint = 'There is no such webhook endpoint.';

/** What an endpoint shows besides its row. */
interface Surroundings {
  readonly account: string;
  readonly backlog: Backlog;
  /** The event id of its position. */
  readonly position: string;
  readonly now: number;
}

export function toEndpoint(row: EndpointRow, { account, backlog, position, now }: Surroundings): Versioned {
  const body = {
    id: row.id,
    account,
    url: row.url,
    types: row.types === null ? null : JSON.parse(row.types),
    description: row.description,
    status: row.status,
    disabledReason: row.disabled_reason,
    position,
    waiting: backlog.open,
    ...backlog.next,
    failingSince: row.failing_since,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    secrets: activeSecrets(parseSecrets(row.secrets), now).map(({ last4, createdAt, endsAt }) => ({
      last4,
      createdAt,
      endsAt,
    })),
  };
  return { id: row.id, version: row.version, body: JSON.stringify(body) };
}

/** @throws AppError notFound */
export function requireFound(row: EndpointRow | undefined): EndpointRow {
  if (row === undefined) {
    throw new AppError('notFound', noEndpoint);
  }
  return row;
}

/** @param types of an endpoint or a replay; null for the default @throws AppError validation */
export function requireKnownTypes(eventTypes: EventTypes, types: readonly string[] | null): void {
  requireNoErrors(unknownTypeErrors(eventTypes, types));
}

/** An error for each type that does not exist. */
export function unknownTypeErrors(eventTypes: EventTypes, types: readonly string[] | null): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, type] of (types ?? []).entries()) {
    if (!eventTypes.isKnown(type)) {
      errors.push({
        field: `types[${index}]`,
        message: `there is no such type. Types are ${eventTypes.names.join(', ')}; order.* and the like stand for all of a kind`,
      });
    }
  }
  return errors;
}

/**
 * The number of a position in a body.
 * @throws AppError validation if it is malformed, eventsExpired, logRewound
 */
export async function resolvePosition(
  events: Pick<EventService, 'resolve'>,
  field: 'since' | 'until',
  position: string,
): Promise<number> {
  try {
    return await events.resolve(position);
  } catch (error) {
    if (error instanceof AppError && error.code === 'badRequest') {
      throw validationError(error.errors.map(({ message }) => ({ field, message })));
    }
    throw error;
  }
}

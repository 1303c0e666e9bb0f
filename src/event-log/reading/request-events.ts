/** The events that a request caused. */
import type { Sql } from '../../database/database.ts';
import { eventLogQueries } from '../log-queries.ts';
import { adminTypes } from './event-filter.ts';
import { readLogState } from './log-reader.ts';
import { positionAt } from './positions.ts';

/** Ids and types of the events of a request by one actor. @param isAdmin whether all types are listed */
export async function listEventsOfRequest(
  tx: Sql,
  { requestId, actor, isAdmin, limit }: RequestEvents,
): Promise<{ readonly id: string; readonly type: string }[]> {
  const rows = await eventLogQueries(tx).listOfRequest(requestId, actor, limit);
  const shown = rows.filter(({ type }) => isAdmin || !adminTypes.test(type));
  const { epochs, first } = shown.length === 0 ? { epochs: [], first: 1 } : await readLogState(tx);
  return shown
    .filter(({ sequence }) => sequence >= first)
    .map(({ sequence, type }) => ({ id: positionAt(sequence, epochs), type }));
}

interface RequestEvents {
  readonly requestId: string;
  readonly actor: string;
  readonly isAdmin: boolean;
  readonly limit: number;
}

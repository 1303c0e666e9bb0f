/** When the next attempt is due: for a clock that is moved from one to the next. */
import type { Sql } from '../../database/database.ts';
import { listLaneStates, listNextDue } from '../../jobs/leases.ts';
import { endpointQueries } from '../endpoint-queries.ts';
import { isPaused } from '../health.ts';
import { deliveryKind, laneOf } from './delivery-order.ts';

/** The first time after `after` at which an endpoint has an attempt that may run; null without one. */
export async function findNextAttempt(sql: Sql, after: number): Promise<number | null> {
  const enabled = (await endpointQueries(sql).list()).filter(({ status }) => status === 'enabled');
  const { paused = [], open = [] } = Object.groupBy(enabled, (endpoint) =>
    isPaused(endpoint, after) ? 'paused' : 'open',
  );
  const lanesOf = (endpoints: typeof enabled) => endpoints.map(({ id }) => laneOf(id).lane);
  const next = open.length === 0 ? [] : await listNextDue(sql, deliveryKind, lanesOf(open), after);
  const states = paused.length === 0 ? [] : await listLaneStates(sql, deliveryKind, lanesOf(paused));
  const afterPauses = states.map(({ lane, due_at }) => {
    const end = paused.find(({ id }) => laneOf(id).lane === lane)?.paused_until ?? null;
    return due_at === null || end === null || due_at > end ? due_at : end;
  });
  return firstTimeOf([...next.map(({ due_at }) => due_at), ...afterPauses]);
}

/** The first of the times in milliseconds since the epoch; null without any. */
function firstTimeOf(times: readonly (string | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known.map((time) => Date.parse(time)));
}

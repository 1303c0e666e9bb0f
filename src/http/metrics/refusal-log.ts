/**
 * A summary of refused requests, so that attacks and clients with a wrong credential are visible in the log without a
 * line for each request.
 */
import type { Log } from '../../log.ts';
import type { Metrics } from './metrics.ts';

const refusals = [401, 403, 429];
/** The largest counts are listed one by one; the others only as a sum. */
const listedMax = 20;

/** Returns a function that writes one line with what was refused since its last call, if anything was. */
export function createRefusalLog(log: Log, metrics: Metrics): () => void {
  let last = new Map<string, number>();

  return () => {
    const current = metrics.requests().filter(({ status }) => refusals.includes(status));
    const added = current
      .map(({ key, requests, ...route }) => ({ ...route, requests: requests - (last.get(key) ?? 0) }))
      .filter(({ requests }) => requests > 0)
      .toSorted((a, b) => b.requests - a.requests);
    last = new Map(current.map(({ key, requests }) => [key, requests]));
    if (added.length > 0) {
      const requests = sum(added);
      const others = added.length > listedMax ? { others: sum(added.slice(listedMax)) } : {};
      log.info({ requests, routes: added.slice(0, listedMax), ...others }, 'requests were refused');
    }
  };
}

function sum(counts: readonly { readonly requests: number }[]): number {
  return counts.reduce((total, { requests }) => total + requests, 0);
}

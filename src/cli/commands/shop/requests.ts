/** The commands of the request log. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestFacts } from '../../../request-log/facts.ts';
import { parseFilters } from '../../../request-log/filters.ts';
import type { listRequestsOptions } from '../../framework/event-options.ts';
import type { CommandOptions, OptionsOf } from '../../framework/options.ts';
import { withShop } from '../../framework/run-command.ts';
import { type Color, colored } from '../../framework/style.ts';

const pageItems = 100;
const tailMs = 1000;

export function listLoggedRequests(options: OptionsOf<typeof listRequestsOptions>): Promise<void> {
  const { json, limit, status, method, route, error, credential, from, before } = options;
  return withShop(options, async ({ requestLog: { service: requests } }) => {
    const filters = parseFilters({ status, method, route, error, credential, from, before });
    let cursor: string | null | undefined;
    for (let left = limit; left > 0 && cursor !== null; ) {
      const position = cursor === undefined ? {} : { cursor };
      const query = { ...filters, ...position, limit: Math.min(left, pageItems) };
      const page = await requests.list('operator', query);
      printRequests(json, page.items);
      left -= page.items.length;
      cursor = page.nextCursor;
    }
  });
}

export function showLoggedRequest(requestId: string, options: CommandOptions): Promise<void> {
  return withShop(options, async ({ requestLog: { service: requests } }) => {
    const items = await requests.find('operator', requestId);
    process.stdout.write(`${JSON.stringify({ items }, null, options.json ? 0 : 2)}\n`);
  });
}

/** Prints new requests until SIGINT or SIGTERM. */
export function tailLoggedRequests(options: CommandOptions): Promise<void> {
  return withShop(options, async ({ requestLog: { service: requests } }) => {
    const stopping = new AbortController();
    const stop = () => stopping.abort();
    process.once('SIGINT', stop).once('SIGTERM', stop);
    // The program that reads the output has ended.
    process.stdout.once('error', stop);
    let after = await requests.findNewest();
    while (!stopping.signal.aborted) {
      const rows = await requests.listSince(after, pageItems);
      printRequests(
        options.json,
        rows.map(({ facts }) => facts),
      );
      after = rows.at(-1)?.id ?? after;
      if (rows.length < pageItems) {
        await sleep(tailMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  });
}

function printRequests(json: boolean | undefined, items: readonly RequestFacts[]): void {
  for (const item of items) {
    process.stdout.write(`${json ? JSON.stringify(item) : toLine(item)}\n`);
  }
}

function toLine({ at, id, method, route, status, milliseconds, credential, error }: RequestFacts): string {
  const parts = [
    at,
    colored(colorOf(status), String(status)),
    method,
    route ?? '-',
    `${milliseconds} ms`,
    credential?.id ?? 'anonymous',
    id,
  ];
  return [...parts, ...(error === null ? [] : [error.type])].join(' ');
}

function colorOf(status: number): Color {
  return status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
}

/** `curd requests tail`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestFacts } from '../../../request-log/facts.ts';
import type { CommandOptions } from '../../framework/options.ts';
import { withShop } from '../../framework/run-command.ts';
import { requestLine } from '../../operations/request-line.ts';

const pageItems = 100;
const tailMs = 1000;

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
    process.stdout.write(`${json ? JSON.stringify(item) : requestLine(item)}\n`);
  }
}

/** The end of a shop: its areas stop, store what they have buffered, and its database is closed. */
import type { Area } from '../http/area.ts';
import type { Log } from '../log.ts';
import { runAll } from '../operations/maintenance.ts';

const none = async () => {};

interface EndingShop {
  readonly log: Log;
  close(): Promise<void>;
}

export function createShopEnd({ log, close }: EndingShop, areas: readonly Area[]) {
  let stopped: Promise<unknown> | null = null;

  /** Ends waits of requests and background work. */
  function stop(): Promise<unknown> {
    stopped ??= Promise.all(
      areas.map(({ stop = none }) => runAll(log, 'background work did not end', [stop])),
    );
    return stopped;
  }

  return {
    stop,
    async close() {
      await stop();
      await runAll(
        log,
        'buffered data could not be stored',
        areas.map(({ close = none }) => close),
      );
      await close();
    },
  };
}

/** A separate connection that listens to a channel. It is opened again when the pool replaces its connections. */
import type postgres from 'postgres';

/** After a failure, which leaves the channel without a listener. */
const retryMs = 1000;

export interface Listener {
  /** Rejects when the first attempt fails. */
  readonly started: Promise<unknown>;
  /** Listens by a new connection, perhaps to another server. */
  restart(): void;
  stop(): Promise<void>;
}

export function createListener(
  // biome-ignore lint/suspicious/noExplicitAny: the types of values play no part.
  open: () => postgres.Sql<any>,
  channel: string,
  onMessage: () => void,
): Listener {
  let client = open();
  let retry: NodeJS.Timeout | undefined;
  let isStopped = false;

  function restart(): void {
    if (isStopped) {
      return;
    }
    clearTimeout(retry);
    void client.end({ timeout: 0 });
    client = open();
    client.listen(channel, onMessage, onMessage).catch(() => {
      retry = setTimeout(restart, retryMs).unref();
    });
  }

  return {
    started: client.listen(channel, onMessage, onMessage),
    restart,
    stop() {
      isStopped = true;
      clearTimeout(retry);
      return client.end({ timeout: 0 });
    },
  };
}

/** A separate connection that listens to a channel. It is opened again after it was lost. */
import type { Socket } from 'node:net';
import { connectToPrimary, createSocket } from './connection.ts';
import type { PostgresServer } from './url.ts';

/** Wait after a failure, which leaves the channel without a listener. */
const retryMs = 1000;

export class Listener {
  readonly #server: () => PostgresServer;
  readonly #channel: string;
  readonly #onMessage: () => void;
  #socket: Socket | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param onMessage also called after each start, because messages may have been missed */
  constructor(server: () => PostgresServer, channel: string, onMessage: () => void) {
    this.#server = server;
    this.#channel = channel;
    this.#onMessage = onMessage;
  }

  /** Rejects when no connection can be made. */
  async start(): Promise<void> {
    const socket = createSocket();
    this.#socket = socket;
    const connection = await connectToPrimary(this.#server(), socket);
    connection.onNotification(this.#onMessage);
    connection.onEnd(() => {
      if (socket === this.#socket) {
        this.#restartLater();
      }
    });
    await connection.query(`listen "${this.#channel}"`);
    this.#onMessage();
  }

  /** Listens by a new connection, perhaps to another server. */
  restart(): void {
    clearTimeout(this.#retry);
    this.#socket?.destroy();
    if (!this.#isStopped) {
      this.start().catch(() => this.#restartLater());
    }
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #restartLater(): void {
    clearTimeout(this.#retry);
    if (!this.#isStopped) {
      this.#retry = setTimeout(() => this.restart(), retryMs).unref();
    }
  }
}

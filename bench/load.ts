/**
 * Load over plain sockets: each connection sends a request, waits for the whole response, and sends the next one. This
 * needs less CPU time than an HTTP client, so the server is the bottleneck.
 */
import { connect, type Socket } from 'node:net';

/** The result of one run. */
export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** What to send, and how. */
export interface Load {
  readonly port: number;
  /** Complete requests. The connections send them in turn. `next` makes each when it is sent. */
  readonly requests: readonly Buffer[] | { readonly next: () => Buffer };
  readonly connections: number;
  readonly seconds: number;
  /** Pause between a response and the next request. With it, this process sleeps while it waits. */
  readonly pauseMs?: number;
}

const headEnd = Buffer.from('\r\n\r\n');

/** The bytes of a request on a keep-alive connection. */
export function httpRequest(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = '',
): Buffer {
  const length =
    body === ''
      ? {}
      : { 'Content-Length': String(Buffer.byteLength(body)), 'Content-Type': 'application/json' };
  const lines = Object.entries({ Host: '127.0.0.1', ...headers, ...length }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Sends requests for some seconds. @throws Error on a response that is not 2xx */
export async function runLoad({ port, requests, connections, seconds, pauseMs }: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  const start = performance.now();
  const end = start + seconds * 1000;
  let turn = 0;
  const next = 'next' in requests ? requests.next : () => requests[turn++ % requests.length] as Buffer;
  let isRunning = true;
  // Keeps this process awake. On a virtual machine, a server needs CPU time to wake its client for each response, and the
  // slower of two servers needs it more often.
  const stayAwake = () => isRunning && setImmediate(stayAwake);
  if (pauseMs === undefined) {
    stayAwake();
  }
  await Promise.all(
    Array.from({ length: connections }, () =>
      oneConnection(connect(port, '127.0.0.1'), next, end, latencies, pauseMs ?? 0),
    ),
  );
  isRunning = false;
  const elapsed = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  return {
    requests: latencies.length,
    requestsPerSecond: latencies.length / elapsed,
    p50: at(0.5),
    p99: at(0.99),
  };
}

function oneConnection(
  socket: Socket,
  next: () => Buffer,
  end: number,
  latencies: number[],
  pauseMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    let wanted = -1;
    let sentAt = 0;

    function send(): void {
      sentAt = performance.now();
      socket.write(next());
    }

    socket.setNoDelay(true);
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('close', () => resolve());
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      if (wanted < 0) {
        const head = received.indexOf(headEnd);
        if (head < 0) {
          return;
        }
        const text = received.toString('latin1', 0, head);
        if (!/^HTTP\/1\.1 2/.test(text)) {
          reject(new Error(received.toString()));
          socket.destroy();
          return;
        }
        wanted = head + headEnd.length + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      }
      if (received.length >= wanted) {
        latencies.push(performance.now() - sentAt);
        received = Buffer.alloc(0);
        wanted = -1;
        if (performance.now() < end) {
          if (pauseMs > 0) {
            setTimeout(send, pauseMs);
          } else {
            send();
          }
        } else {
          socket.end();
        }
      }
    });
  });
}

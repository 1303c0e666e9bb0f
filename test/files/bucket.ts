/** An S3 server in a separate process, and the settings of Curd for it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer, request } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { cleanUp, type Scope, temporaryFolder } from '../context.ts';

const program = fileURLToPath(new URL('../../node_modules/s3rver/bin/s3rver.js', import.meta.url));

export const bucket = 'pictures';
/** The only account of the server. */
export const credential = 'S3RVER';

export interface Bucket {
  readonly endpoint: string;
  /** The folder with the objects of the bucket. */
  readonly folder: string;
  stop(): Promise<void>;
  /** Starts it again with the same URL and objects. */
  start(): Promise<void>;
}

/** Starts the server with an empty bucket. It stops when the test ends. */
export async function openBucket(t: Scope): Promise<Bucket> {
  const directory = await temporaryFolder(t);
  let port = '0';
  let stop = async () => {};

  async function start(): Promise<void> {
    const settings = ['-d', directory, '-a', '127.0.0.1', '-p', port, '--no-vhost-buckets', '-s'];
    const child = spawn(process.execPath, [program, ...settings, '--configure-bucket', bucket], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    stop = async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'close');
      }
    };
    let greeting = '';
    for await (const piece of child.stdout) {
      greeting += piece;
      if (/listening on \S+:\d+\n/.test(greeting)) {
        break;
      }
    }
    const found = /listening on \S+:(\d+)\n/.exec(greeting)?.[1];
    assert.ok(found !== undefined, `s3rver did not start: ${greeting}`);
    port = found;
  }

  cleanUp(t, () => stop());
  await start();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    folder: `${directory}/${bucket}`,
    stop: () => stop(),
    start,
  };
}

/** The AWS variables that an operator sets besides CURD_IMAGES. */
export function awsSettings(endpoint: string, key = credential, secret = credential): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: key,
    AWS_SECRET_ACCESS_KEY: secret,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

/** A server that accepts connections and never responds. */
export async function openSilence(t: Scope): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp(t, () => {
    for (const socket of sockets) {
      socket.destroy();
    }
    server.close();
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

/** A proxy in front of a bucket that delays the response to the first deletion until it is released. */
export async function openSlowDeletion(t: Scope, endpoint: string) {
  const { promise: held, resolve: hold } = Promise.withResolvers<() => void>();
  let deletions = 0;
  const proxy = createHttpServer((incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const call = request(`${endpoint}${url}`, { method, headers }, (response) => {
      const pass = () => {
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(outgoing);
      };
      deletions += method === 'DELETE' ? 1 : 0;
      if (method === 'DELETE' && deletions === 1) {
        hold(pass);
      } else {
        pass();
      }
    });
    call.on('error', () => outgoing.destroy());
    incoming.pipe(call);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  cleanUp(t, () => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const address = proxy.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { endpoint: `http://127.0.0.1:${address.port}`, held };
}

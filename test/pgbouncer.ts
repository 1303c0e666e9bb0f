/** PgBouncer in front of a PostgreSQL, where it is installed, with the settings that docs/operations.md names. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './global-setup.ts';

export interface PgBouncer {
  /** Without a database and parameters. */
  readonly url: string;
  start(): Promise<void>;
  /** Closes all connections at once. */
  stop(): Promise<void>;
  /** Deletes its files. */
  remove(): Promise<void>;
}

/** The program; undefined where it is not installed. CURD_TEST_PGBOUNCER names one that is not on the PATH. */
export function findPgBouncer(): string | undefined {
  const candidates = [process.env.CURD_TEST_PGBOUNCER, 'pgbouncer', '/usr/sbin/pgbouncer'];
  return candidates.find((file) => file && spawnSync(file, ['--version']).status === 0);
}

/** @param server URL of the PostgreSQL, without a database @param connections to each database */
export async function openPgBouncer(
  program: string,
  server: string,
  connections: number,
): Promise<PgBouncer> {
  const { hostname, port, username, password } = new URL(server);
  const folder = await mkdtemp(join(tmpdir(), 'curd-pgbouncer-'));
  await chmod(folder, 0o755);
  const listenPort = await freePort();
  await writeFile(join(folder, 'users.txt'), `"${username}" "${password}"\n`);
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users.txt')}
${documentedSettings().replace(/(?<=default_pool_size = )\d+/, String(connections))}
${process.getuid?.() === 0 ? 'user = nobody' : ''}
`,
  );
  let running: ChildProcess | undefined;

  return {
    url: `postgres://${username}:${password}@127.0.0.1:${listenPort}`,
    async start() {
      running = spawn(program, ['-q', join(folder, 'pgbouncer.ini')], { stdio: 'ignore' });
      for (let attempts = 1; !(await accepts(listenPort)); attempts += 1) {
        if (attempts === 200 || running.exitCode !== null) {
          throw new Error(`${program} does not start`);
        }
        await sleep(25);
      }
    },
    async stop() {
      if (running !== undefined && running.exitCode === null && running.signalCode === null) {
        const ended = once(running, 'exit');
        running.kill('SIGTERM');
        await ended;
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function documentedSettings(): string {
  const page = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8');
  const [, settings] = /```ini\n; pgbouncer\.ini\n([^`]*)```/.exec(page) ?? [];
  if (settings === undefined) {
    throw new Error('docs/operations.md has no pgbouncer.ini');
  }
  return settings;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** A monitor of pg_auto_failover and two nodes on this machine, in a temporary folder that is deleted at the end. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chown, mkdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { cleanUp, type Scope, temporaryFolder, until } from '../../test/context.ts';
import { freePort } from '../../test/global-setup.ts';

const packages = ['pg-auto-failover-cli', 'postgresql-15-auto-failover'];
const programs = '/usr/lib/postgresql/15/bin';
const stateMs = 180_000;
const stopMs = 30_000;

/** Without it, a command for the operator. */
export class RefusedError extends Error {}

/** Installs pg_auto_failover with PostgreSQL 15, unless they are there, and removes what it installed at the end. */
export function installPackages(t: Scope, tell: (progress: string) => void): void {
  if (isRunnable('pg_autoctl') && isRunnable(`${programs}/pg_ctl`)) {
    return;
  }
  if (!isRunnable('apt-get')) {
    throw new RefusedError(`This needs Debian 12, to install ${packages.join(' and ')} with apt-get.`);
  }
  if (process.getuid?.() !== 0) {
    throw new RefusedError(
      `This installs packages, so run it as root, or install them before: apt-get install ${packages.join(' ')}`,
    );
  }
  tell(`Installing ${packages.join(' and ')}`);
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('apt-get', args, { env: environment, encoding: 'utf8' });
    if (status !== 0) {
      throw new RefusedError(`apt-get ${args[0]} failed: ${stderr.trim().split('\n').at(-1)}`);
    }
    return stdout;
  };
  apt('update');
  const plan = apt('install', '--simulate', '--no-install-recommends', ...packages);
  const added = [...plan.matchAll(/^Inst (\S+) \((?!\[)/gm)].map(([, name]) => name as string);
  cleanUp(t, () => {
    tell(`Removing ${added.join(', ')}`);
    apt('purge', '--yes', ...added);
  });
  apt('install', '--yes', '--no-install-recommends', ...packages);
}

function isRunnable(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

export interface PostgresNode {
  readonly name: string;
  readonly port: number;
  /** Runs a statement. */
  // biome-ignore lint/suspicious/noExplicitAny: callers know what to expect in it.
  ask(statement: string): Promise<any[]>;
  /** Sends a signal to all its processes, or to those of PostgreSQL only. */
  signal(signal: NodeJS.Signals, which?: 'all' | 'postgres'): void;
  /** `pg_autoctl stop`. */
  stop(): Promise<void>;
  /** Starts it again after `stop` or SIGKILL. */
  start(): void;
}

export interface Cluster {
  /** For CURD_DATABASE. */
  readonly url: string;
  readonly nodes: readonly [PostgresNode, PostgresNode];
  /** The node with this state, by its own report; undefined where none has it. */
  nodeThatIs(state: 'primary' | 'secondary'): Promise<PostgresNode | undefined>;
  /** Waits until one node is primary and the other one secondary. */
  healthy(): Promise<void>;
  switchOver(): Promise<void>;
}

/** @param replication of a primary that has a standby */
export async function openCluster(t: Scope, replication: 'asynchronous' | 'synchronous'): Promise<Cluster> {
  const folder = await temporaryFolder(t);
  const owner = ownerOfServers();
  const runtime = join(folder, 'run');
  await mkdir(runtime, { mode: 0o700 });
  for (const path of [folder, runtime]) {
    await chown(path, owner.uid, owner.gid);
  }
  const environment = {
    PATH: `${programs}:/usr/bin:/bin`,
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_DATA_HOME: join(folder, 'share'),
    XDG_RUNTIME_DIR: runtime,
    LC_ALL: 'C.UTF-8',
  };
  const options = { cwd: folder, env: environment, uid: owner.uid, gid: owner.gid };

  /** A server under the control of pg_autoctl. */
  async function open(name: string, create: readonly string[], database: string): Promise<PostgresNode> {
    const data = ['--pgdata', join(folder, name)];
    const port = await freePort();
    const common = [
      '--pgport',
      String(port),
      '--hostname',
      '127.0.0.1',
      '--auth',
      'trust',
      '--no-ssl',
      '--run',
    ];
    let keeper: ChildProcess;
    const run = (args: readonly string[]) => {
      keeper = spawn('pg_autoctl', [...args, ...data], {
        ...options,
        stdio: ['ignore', 'ignore', process.env.CURD_BENCH_LOG ? 'inherit' : 'ignore'],
      });
    };
    run(['create', ...create, ...common]);

    async function stop(): Promise<void> {
      if (keeper.exitCode === null && keeper.signalCode === null) {
        const ended = once(keeper, 'exit');
        execFileSync('pg_autoctl', ['stop', ...data], { ...options, stdio: 'ignore' });
        await ended;
      }
    }
    const node: PostgresNode = {
      name,
      port,
      ask: (statement) => ask(port, database, statement),
      signal(signal, which = 'all') {
        const pids = which === 'all' ? treeOf(keeper.pid as number) : postgresOf(keeper.pid as number);
        for (const pid of pids) {
          process.kill(pid, signal);
        }
      },
      stop,
      start: () => run(['run']),
    };
    cleanUp(t, async () => {
      const deadline = sleep(stopMs, undefined, { ref: false });
      node.signal('SIGCONT');
      await Promise.race([stop().catch(() => {}), deadline]);
      node.signal('SIGKILL');
    });
    return node;
  }

  const monitor = await open('monitor', ['monitor'], 'autoctl_node@pg_auto_failover');
  await until(() => succeeds(monitor.ask('select 1')), 'the monitor does not start', stateMs);
  const uri = `postgres://autoctl_node@127.0.0.1:${monitor.port}/pg_auto_failover?sslmode=disable`;
  const openNode = (name: string) =>
    open(
      name,
      [
        ...['postgres', '--name', name, '--monitor', uri, '--username', 'curd', '--dbname', 'curd'],
        ...['--replication-quorum', String(replication === 'synchronous')],
      ],
      'curd@curd',
    );

  const stateOf = async (name: string): Promise<string | undefined> => {
    const rows = await monitor.ask(
      `select reportedstate::text as state from pgautofailover.node
       where nodename = '${name}' and reportedstate = goalstate`,
    );
    return rows[0]?.state;
  };
  const first = await openNode('first');
  await until(async () => (await stateOf('first')) === 'single', 'the first node does not start', stateMs);
  const second = await openNode('second');
  // The copy of the first node waits for a checkpoint, which takes minutes unless one is requested.
  const isCopied = async () => {
    await ask(first.port, `${owner.name}@curd`, 'checkpoint');
    return (await stateOf('second')) === 'secondary';
  };
  await until(isCopied, 'the second node does not start', stateMs);
  const nodes = [first, second] as const;

  async function nodeThatIs(state: string): Promise<PostgresNode | undefined> {
    for (const node of nodes) {
      if ((await stateOf(node.name)) === state) {
        return node;
      }
    }
    return undefined;
  }
  const cluster: Cluster = {
    url: `postgres://curd@127.0.0.1:${first.port},127.0.0.1:${second.port}/curd?target_session_attrs=read-write`,
    nodes,
    nodeThatIs,
    healthy: () =>
      until(
        async () =>
          (await nodeThatIs('primary')) !== undefined && (await nodeThatIs('secondary')) !== undefined,
        'the nodes do not become primary and secondary',
        stateMs,
      ),
    async switchOver() {
      const args = ['perform', 'switchover', '--pgdata', join(folder, 'monitor')];
      const [status] = await once(spawn('pg_autoctl', args, { ...options, stdio: 'ignore' }), 'exit');
      if (status !== 0) {
        throw new Error(`pg_autoctl perform switchover ended with status ${status}`);
      }
    },
  };
  await cluster.healthy();
  return cluster;
}

/** PostgreSQL refuses to run as root, so it runs as the user of its package. The first superuser has the same name. */
function ownerOfServers(): { readonly name: string; readonly uid: number; readonly gid: number } {
  const { username, uid, gid } = userInfo();
  if (uid !== 0) {
    return { name: username, uid, gid };
  }
  const name = 'postgres';
  const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { name, uid: id('-u'), gid: id('-g') };
}

// biome-ignore lint/suspicious/noExplicitAny: callers know what to expect in it.
async function ask(port: number, database: string, statement: string): Promise<any[]> {
  const [user, name] = database.split('@');
  const client = postgres(`postgres://${user}@127.0.0.1:${port}/${name}`, {
    max: 1,
    connect_timeout: 2,
    onnotice: () => {},
  });
  try {
    return [...(await client.unsafe(statement))];
  } finally {
    await client.end({ timeout: 0 });
  }
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

/** A process and all that it started, parents first. */
function treeOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return [pid, ...children.split(' ').filter(Boolean).map(Number).flatMap(treeOf)];
  } catch {
    // It has ended.
    return [];
  }
}

function postgresOf(pid: number): number[] {
  return treeOf(pid).filter((one) => {
    try {
      return readFileSync(`/proc/${one}/comm`, 'utf8').trim() === 'postgres';
    } catch {
      return false;
    }
  });
}

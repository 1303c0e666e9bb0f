/**
 * Several server processes on one port. This process opens no port and knows nothing of the shop: it starts the others,
 * starts those that die again, and passes on signals and the texts of /metrics.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { sourceMaps } from '../../children/child.ts';
import { withShareOfConnections } from '../../database/postgres/url.ts';
import { createLog } from '../../log.ts';
import type { Config } from '../../settings/config.ts';
import { ConfigError } from '../../settings/parsers.ts';
import { listenErrorText } from '../../system-errors.ts';
import { printFailure } from '../framework/output.ts';
import { type Greeting, printGreeting } from './greeting.ts';

/** Sent to a process. */
export type ProcessCommand =
  | { readonly kind: 'start'; readonly config: Config; readonly isFirst: boolean; readonly number: number }
  | { readonly kind: 'stop'; readonly signal: string }
  /** Asks for its metrics. */
  | { readonly kind: 'metrics'; readonly id: number }
  /** The metrics of the other processes. */
  | { readonly kind: 'gathered'; readonly id: number; readonly texts: ReadonlyMap<number, string> };

/** Sent by a process. */
export type ProcessReport =
  | { readonly kind: 'listening'; readonly port: number; readonly greeting: Greeting }
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string }
  /** Asks for the metrics of the other processes. */
  | { readonly kind: 'gather'; readonly id: number };

const platforms = ['linux', 'freebsd'];
/** Doubled with each death, so 1.6 seconds at most: there are five restarts within a minute. */
const restartMsMin = 100;
const deathsMax = 6;
const deathsWithinMs = 60_000;
const gatherMs = 2000;
/** A process ends its running requests within 30 seconds, after the delay of the settings. */
const stopMs = 35_000;

/** Starts the processes, prints the greeting when all of them listen, and returns. @throws ConfigError */
export async function serveByProcesses(config: Config, json: boolean): Promise<void> {
  requireSupport(config, process.platform);
  await requireFreePort(config);
  const log = createLog(config.logLevel);
  const processes = new Map<number, ChildProcess>();
  const listening = new Set<number>();
  const allListening = Promise.withResolvers<void>();
  const gatherings = new Map<number, (number: number, text: string) => void>();
  const restarts = new Set<NodeJS.Timeout>();
  let { port } = config;
  let deaths: number[] = [];
  let exitCode: number | null = null;
  let gathered = 0;

  function send(number: number, command: ProcessCommand): void {
    const forked = processes.get(number);
    if (forked?.connected) {
      // It may end at the same moment.
      forked.send(command, () => {});
    }
  }

  /** Resolves when the process listens; null when it ended before. */
  function start(number: number, isFirst: boolean): Promise<Greeting | null> {
    const forked = fork(new URL('./server-process.ts', import.meta.url), {
      execArgv: [...process.execArgv, ...sourceMaps],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    processes.set(number, forked);
    send(number, { kind: 'start', config: { ...share(config), port }, isFirst, number });
    return new Promise((resolve) => {
      forked.on('message', (report: ProcessReport) => {
        if (report.kind === 'listening') {
          listening.add(number);
          port = report.port;
          resolve(report.greeting);
          if (listening.size === config.processes) {
            allListening.resolve();
          }
        } else if (report.kind === 'gather') {
          gather(number, report.id);
        } else {
          gatherings.get(report.id)?.(number, report.text);
        }
      });
      forked.on('error', (error) =>
        log.error({ err: error, worker: number }, 'a server process could not be started'),
      );
      forked.once('close', (code, signal) => {
        processes.delete(number);
        const hasListened = listening.delete(number);
        resolve(null);
        if (exitCode !== null) {
          exitCode = Math.max(exitCode, code ?? 1);
          endIfAlone();
        } else if (!isFirst || hasListened) {
          restart(number, signal ?? `exit status ${code}`);
        }
      });
    });
  }

  function restart(number: number, reason: string): void {
    const now = performance.now();
    deaths = [...deaths.filter((at) => now - at < deathsWithinMs), now];
    if (deaths.length >= deathsMax) {
      printFailure(
        new ConfigError(
          `Server processes ended ${deathsMax} times within a minute, the last one by ${reason}. Read what they logged above, and start the server again.`,
        ),
      );
      stop('SIGTERM', 1);
      return;
    }
    const delayMs = restartMsMin * 2 ** (deaths.length - 1);
    log.error({ worker: number, reason, delayMs }, 'a server process ended; it is started again');
    const timer = setTimeout(() => {
      restarts.delete(timer);
      void start(number, false);
    }, delayMs);
    restarts.add(timer);
  }

  /** Called again, ends the processes immediately. */
  function stop(signal: string, code: number): void {
    exitCode ??= code;
    restarts.forEach(clearTimeout);
    for (const number of processes.keys()) {
      send(number, { kind: 'stop', signal });
    }
    setTimeout(() => {
      for (const forked of processes.values()) {
        forked.kill('SIGKILL');
      }
    }, config.stopDelayMs + stopMs).unref();
    endIfAlone();
  }

  function endIfAlone(): void {
    if (processes.size === 0) {
      process.exit(exitCode ?? 0);
    }
  }

  /** Asks all other processes for their metrics. Those that do not respond in time are left out. */
  function gather(asking: number, id: number): void {
    gathered += 1;
    const request = gathered;
    const others = [...listening].filter((number) => number !== asking);
    const texts = new Map<number, string>();
    const finish = () => {
      clearTimeout(timer);
      gatherings.delete(request);
      send(asking, { kind: 'gathered', id, texts });
    };
    const timer = setTimeout(finish, gatherMs);
    gatherings.set(request, (number, text) => {
      texts.set(number, text);
      if (texts.size === others.length) {
        finish();
      }
    });
    for (const number of others) {
      send(number, { kind: 'metrics', id: request });
    }
    if (others.length === 0) {
      finish();
    }
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => stop(signal, 0));
  }
  // Alone at first: it migrates the database, and finds the port if the setting is 0.
  const greeting = await start(1, true);
  if (greeting === null) {
    // It has printed why.
    process.exitCode = 1;
    return;
  }
  if (exitCode !== null) {
    // A signal arrived during its last step.
    return;
  }
  for (let number = 2; number <= config.processes; number += 1) {
    void start(number, false);
  }
  await allListening.promise;
  printGreeting(greeting, json);
}

/** @throws ConfigError if several processes cannot share a port, or a database */
export function requireSupport(
  { processes, database, given }: Pick<Config, 'processes' | 'database' | 'given'>,
  platform: string,
): void {
  const setting = given.find(({ variable }) => variable === 'CURD_PROCESSES');
  const name = setting?.origin === 'flag' ? '--processes' : 'CURD_PROCESSES';
  const isAutomatic = setting?.value === 'auto';
  const problem = `${name} is ${isAutomatic ? `auto, ${processes} on this machine` : processes}, but`;
  if (database.engine === 'sqlite') {
    throw new ConfigError(
      `${problem} one process owns an SQLite database. Set it to 1, or set CURD_DATABASE to a PostgreSQL database.`,
    );
  }
  if (!platforms.includes(platform)) {
    throw new ConfigError(
      `${problem} processes can share a port only on Linux and FreeBSD. Set it to 1, and start several instances on different ports behind a load balancer.`,
    );
  }
}

/** They could join the port of another server with several processes. @throws ConfigError */
async function requireFreePort({ host, port }: Config): Promise<void> {
  const probe = createServer();
  try {
    probe.listen({ host, port });
    await once(probe, 'listening');
  } catch (error) {
    const text = listenErrorText(error, host, port);
    throw text === null ? error : new ConfigError(text);
  } finally {
    probe.close();
  }
}

/** The settings of one process. */
function share(config: Config): Config {
  const { database, processes } = config;
  return database.engine === 'sqlite'
    ? config
    : { ...config, database: { ...database, url: withShareOfConnections(database.url, processes) } };
}

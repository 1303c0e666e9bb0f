/** One of several server processes. processes.ts starts it, and sends it its settings. */
import { buildApp } from '../../app/build-app.ts';
import { createChildPools } from '../../app/foundation.ts';
import { systemClock } from '../../clock.ts';
import { limitConnections } from '../../http/connection-age.ts';
import { mergeMetrics } from '../../http/metrics/merged-metrics.ts';
import { ConfigError } from '../../settings/parsers.ts';
import { listenErrorText } from '../../system-errors.ts';
import { printFailure } from '../framework/output.ts';
import type { ProcessCommand, ProcessReport } from './processes.ts';
import { type StartedServer, startServer } from './start-server.ts';

type Start = Extract<ProcessCommand, { readonly kind: 'start' }>;

let server: StartedServer | undefined;
let metricsOf: () => Promise<string> = async () => '';
const gatherings = new Map<number, (texts: ReadonlyMap<number, string>) => void>();
let gathered = 0;

/** The parent may have ended: without a callback, that would be an uncaught error. */
function report(message: ProcessReport, ifLost = () => {}): void {
  process.send?.(message, (error) => error !== null && ifLost());
}

/** A stop before the database is open ends the process: nothing runs yet. */
async function stop(signal: string): Promise<void> {
  await (server?.stop(signal) ?? process.exit(0));
}

/** The metrics of all processes; only those of this one when the parent has ended. */
async function gather(number: number, own: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<ReadonlyMap<number, string>>();
  gathered += 1;
  const id = gathered;
  gatherings.set(id, resolve);
  report({ kind: 'gather', id }, () => resolve(new Map()));
  const others = await promise;
  gatherings.delete(id);
  const texts = [...others, [number, own] as const].sort(([a], [b]) => a - b);
  return mergeMetrics(new Map(texts));
}

async function start({ config, isFirst, number }: Start): Promise<void> {
  try {
    const app = await buildApp(config, { workers: createChildPools(systemClock, 1) });
    limitConnections(app.server.server, systemClock);
    metricsOf = app.metrics.render;
    app.metrics.gatherWith((own) => gather(number, own));
    server = startServer(app, { isFirst, reusePort: true, isOnlyServer: false }, () => {});
    const greeting = await server.greeting;
    if (greeting !== null) {
      report({ kind: 'listening', port: Number(new URL(greeting.url).port), greeting });
    }
  } catch (error) {
    const text = listenErrorText(error, config.host, config.port);
    printFailure(text === null ? error : new ConfigError(text));
    process.exit(1);
  }
}

// A terminal and systemd send signals to all processes. The parent decides, because a second signal would cut requests.
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {});
}
process.on('disconnect', () => {
  for (const resolve of gatherings.values()) {
    resolve(new Map());
  }
  void stop('the end of the parent process');
});
process.on('message', async (command: ProcessCommand) => {
  if (command.kind === 'start') {
    await start(command);
  } else if (command.kind === 'stop') {
    await stop(command.signal);
  } else if (command.kind === 'metrics') {
    report({ kind: 'metrics', id: command.id, text: await metricsOf().catch(() => '') });
  } else {
    gatherings.get(command.id)?.(command.texts);
  }
});

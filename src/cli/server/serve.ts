import type { App } from '../../app/build-app.ts';
import type { ServerLock } from '../../database/sqlite/server-lock.ts';
import type { Config } from '../../settings/config.ts';
import { ConfigError } from '../../settings/parsers.ts';
import { listenErrorText } from '../../system-errors.ts';
import type { serveOptions } from '../framework/command-options.ts';
import type { OptionsOf } from '../framework/options.ts';
import { configForExistingShop } from '../framework/run-command.ts';
import { printGreeting } from './greeting.ts';

type ServeOptions = OptionsOf<typeof serveOptions>;

/** Starts the server and returns. It runs until SIGTERM or SIGINT. */
export async function serve(options: ServeOptions): Promise<void> {
  const shop = options.ephemeral ? (await import('./ephemeral.ts')).createEphemeralShop(options) : null;
  const config = await configForExistingShop(shop === null ? options : { ...options, flags: shop.flags });
  if (config.processes > 1) {
    const { serveByProcesses } = await import('./processes.ts');
    return serveByProcesses(config, options.json);
  }
  const lock = shop?.lock ?? (await lockDatabase(config, options.allowSecondServer));
  try {
    // Processes that do not serve requests themselves do not load it.
    const { buildApp } = await import('../../app/build-app.ts');
    const app = await buildApp(config);
    if (lock !== null) {
      const { noteLogPosition } = await import('./log-position.ts');
      await noteLogPosition(app, lock);
    }
    await run(app, options, lock);
  } catch (error) {
    lock?.release();
    const text = listenErrorText(error, config.host, config.port);
    throw text === null ? error : new ConfigError(text);
  }
}

/**
 * Makes this the only server on an SQLite database, because each server counts rate limits alone. Returns null if there
 * can be other servers.
 * @throws ConfigError when another server runs, unless `isSecondAllowed`
 */
async function lockDatabase({ database }: Config, isSecondAllowed: boolean): Promise<ServerLock | null> {
  if (database.engine === 'postgres') {
    return null;
  }
  const { lockServer } = await import('../../database/sqlite/server-lock.ts');
  const lock = lockServer(database.file);
  if (lock === null && !isSecondAllowed) {
    throw new ConfigError(
      `Another server has ${database.file} open. Stop it first, or add --allow-second-server: then each server counts rate limits alone.`,
    );
  }
  return lock;
}

async function run(
  app: App,
  { json, ephemeral, stopWithStdin }: ServeOptions,
  lock: ServerLock | null,
): Promise<void> {
  const { startServer } = await import('./start-server.ts');
  const launch = { isFirst: true, reusePort: false, isOnlyServer: lock !== null };
  const server = startServer(app, launch, () => lock?.release());
  // Installed before the start writes anything, because signals arrive in a later turn of the event loop.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => void server.stop(signal));
  }
  if (stopWithStdin) {
    process.stdin.once('close', () => void server.stop('the end of standard input')).resume();
  }
  const greeting = await server.greeting;
  if (greeting === null) {
    return;
  }
  if (ephemeral) {
    const { greetEphemerally, printEphemeralGreeting } = await import('./ephemeral.ts');
    printEphemeralGreeting(await greetEphemerally(app, greeting), json);
  } else {
    printGreeting(greeting, json);
  }
}

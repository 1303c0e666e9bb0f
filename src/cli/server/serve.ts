import type { App } from '../../app/build-app.ts';
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
  const unlock = shop?.unlock ?? (await lock(config, options.allowSecondServer));
  try {
    // Not loaded where other processes serve.
    const { buildApp } = await import('../../app/build-app.ts');
    await run(await buildApp(config), options, unlock);
  } catch (error) {
    unlock?.();
    const text = listenErrorText(error, config.host, config.port);
    throw text === null ? error : new ConfigError(text);
  }
}

/**
 * Makes this the only server on an SQLite database, because each server counts rate limits alone. Returns how to unlock;
 * null where there can be other servers.
 * @throws ConfigError when another server runs, unless `isSecondAllowed`
 */
async function lock({ database }: Config, isSecondAllowed: boolean): Promise<(() => void) | null> {
  if (database.engine === 'postgres') {
    return null;
  }
  const { lockServer } = await import('../../database/sqlite/server-lock.ts');
  const unlock = lockServer(database.file);
  if (unlock === null && !isSecondAllowed) {
    throw new ConfigError(
      `Another server has ${database.file} open. Stop it first, or add --allow-second-server: then each server counts rate limits alone.`,
    );
  }
  return unlock;
}

async function run(
  app: App,
  { json, ephemeral, stopWithStdin }: ServeOptions,
  unlock: (() => void) | null,
): Promise<void> {
  const { startServer } = await import('./start-server.ts');
  const launch = { isFirst: true, reusePort: false, isOnlyServer: unlock !== null };
  const server = startServer(app, launch, () => unlock?.());
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

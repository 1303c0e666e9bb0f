import type { AddressInfo } from 'node:net';
import { apiInfo } from '../app/api-info.ts';
import { type App, buildApp } from '../app/compose.ts';
import { seedDemoCatalogue, seedDemoImages } from '../app/demo/demo.ts';
import { consoleAccount } from '../auth/keys/service.ts';
import { AppError } from '../errors.ts';
import { restoreTestOrders } from '../orders/test-orders.ts';
import type { Config } from '../settings/config.ts';
import { ConfigError } from '../settings/parsers.ts';
import { publicBaseUrl } from '../settings/urls.ts';
import { listenErrorText } from '../system-errors.ts';
import type { serveOptions } from './command-options.ts';
import { consoleLinkUrl } from './console.ts';
import type { CommandOptions, OptionsOf } from './options.ts';
import { configForExistingShop, unknownVariables } from './run-command.ts';

/** Starts the server and returns. It runs until SIGTERM or SIGINT. */
export async function serve(options: OptionsOf<typeof serveOptions>): Promise<void> {
  const config = await configForExistingShop(options);
  const unlock = await lock(config, options.allowSecondServer);
  try {
    await run(await buildApp(config), options, unlock);
  } catch (error) {
    unlock();
    const text = listenErrorText(error, config.host, config.port);
    throw text === null ? error : new ConfigError(text);
  }
}

/**
 * Makes this the only server on an SQLite database, because each server counts rate limits alone. Returns how to unlock.
 * @throws ConfigError when another server runs, unless `isSecondAllowed`
 */
async function lock({ database }: Config, isSecondAllowed: boolean): Promise<() => void> {
  if (database.engine === 'postgres') {
    return () => {};
  }
  const { lockServer } = await import('../database/server-lock.ts');
  const unlock = lockServer(database.file);
  if (unlock === null && !isSecondAllowed) {
    throw new ConfigError(
      `Another server has ${database.file} open. Stop it first, or add --allow-second-server: then each server counts rate limits alone.`,
    );
  }
  return unlock ?? (() => {});
}

async function run(app: App, options: CommandOptions, unlock: () => void): Promise<void> {
  for (const variable of unknownVariables()) {
    app.log.warn(`${variable} is not a setting of Curd. Check the spelling.`);
  }
  const { newerSchema } = app.services;
  if (newerSchema !== null) {
    app.log.warn(newerSchema, 'a newer version of Curd has migrated the database; replace this version soon');
  }
  const stopping = new AbortController();
  const started = start(app, options, stopping.signal);
  // Installed before the start writes anything, because signals arrive in a later turn of the event loop.
  stopOnSignals(app, started, stopping, unlock);
  try {
    await started;
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** Runs the steps of the start one after another. A signal ends the start between two steps. */
async function start(app: App, options: CommandOptions, signal: AbortSignal): Promise<void> {
  const { config } = app.services;
  const isProduction = config.environment === 'production';
  const steps = [
    ...(isProduction ? [] : [() => seed(app)]),
    () => app.server.listen({ host: config.host, port: config.port }),
    // After listen, because the URLs of images contain the port.
    ...(isProduction ? [] : [() => seedImages(app)]),
    () => open(app, options),
  ];
  for (const step of steps) {
    if (!signal.aborted) {
      await step();
    }
  }
}

async function open(app: App, options: CommandOptions): Promise<void> {
  app.worker.start();
  await app.webhookWorker.start();
  app.statisticsCounter.start();
  app.orderCounter.start();
  await app.instances.report();
  const { keys, config, consoleLinks, contextOf } = app.services;
  const isEmpty = (await keys.listAccounts()).every(({ name }) => name === consoleAccount);
  const isLocal = config.environment === 'local';
  // As the last step, so that a key that is created is also printed.
  const key = isEmpty && isLocal ? await firstKey(app) : null;
  const hasLink = isLocal && config.console === 'on';
  const link = hasLink ? (await consoleLinks.createForStart(contextOf('cli'))).link : null;
  greet(app, options, { key, link, isEmpty: isEmpty && !isLocal });
  logStart(app);
}

interface Greeting {
  /** Of a first start in local. */
  readonly key: string | null;
  /** For the sign-in to the console, in local. */
  readonly link: string | null;
  /** Whether there is no account, and none was created. */
  readonly isEmpty: boolean;
}

function greet({ server, services }: App, options: CommandOptions, { key, link, isEmpty }: Greeting): void {
  const { config } = services;
  const { address, port, family } = server.server.address() as AddressInfo;
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  const first = key === null ? '' : firstKeyText(url, key);
  const publicUrl = publicBaseUrl(config, port);
  const consoleUrl = link === null ? null : consoleLinkUrl(publicUrl, link);
  const consoleText = consoleUrl === null ? '' : `Console: ${consoleUrl}\n`;
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ url, key, console: consoleUrl })}\n`
      : `Curd is listening on ${url} (${config.environment})\n${isEmpty ? noAccountText : first}\n${consoleText}Reference: ${publicUrl}/docs   Commands: npx curd --help   Stop: Ctrl+C\n`,
  );
}

function logStart({ server, services, log }: App): void {
  const { config, database } = services;
  const { address, port } = server.server.address() as AddressInfo;
  const { environment } = config;
  const { version } = apiInfo;
  log.info(
    { version, environment, engine: database.engine, node: process.version, address, port },
    'started',
  );
}

/** Outside of production: the demo catalogue at the first start, and the documented test orders at each start. */
async function seed({ services }: App): Promise<void> {
  const { cheeses, contextOf } = services;
  await seedDemoCatalogue(cheeses, contextOf('system'));
  await restoreTestOrders(contextOf('system'));
}

/** A failure is only logged: the shop works without images. */
async function seedImages({ services, imageUrl, log }: App): Promise<void> {
  try {
    await seedDemoImages(services, services.contextOf('system'), imageUrl);
  } catch (error) {
    log.warn({ err: error }, 'the demo images could not be stored');
  }
}

/** Creates an account and a key in a local database without accounts. */
async function firstKey({ services }: App): Promise<string | null> {
  const { keys, contextOf } = services;
  try {
    const account = await keys.createAccount(contextOf('system'), 'local');
    return (await keys.create(contextOf('system'), account.id, {})).key;
  } catch (error) {
    // Another server started at the same moment and prints the key.
    if (error instanceof AppError && error.code === 'conflict') {
      return null;
    }
    throw error;
  }
}

function firstKeyText(url: string, key: string): string {
  return `
Your first API key, shown this once:

  ${key}

  curl -H "X-API-Key: ${key}" "${url}/v2/cheeses?limit=3"

It can read. Create a key that can also write:

  WRITER=$(npx curd keys create --account local --scope write:cheeses)
`;
}

const noAccountText = `
There is no account yet. Create one, and a key for it, with the settings of this server:

  npx curd accounts create <name> --plan pro
  KEY=$(npx curd keys create --account <name>)
`;

/** The first signal lets running requests finish, then ends the process. A second signal ends it immediately. */
function stopOnSignals(
  app: App,
  started: Promise<void>,
  stopping: AbortController,
  unlock: () => void,
): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      if (stopping.signal.aborted) {
        app.log.warn({ signal }, 'stopped by a second signal, without waiting for running requests');
        process.exit(1);
      }
      stopping.abort();
      try {
        await started;
        await app.services.consoleLinks.deleteStartLinks();
        await app.close();
        unlock();
        app.log.info({ signal, uptimeSeconds: Math.round(process.uptime()) }, 'stopped');
        process.exit(0);
      } catch (error) {
        app.log.error({ err: error }, 'stopping failed');
        process.exit(1);
      }
    });
  }
}

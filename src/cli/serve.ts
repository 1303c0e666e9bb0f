import type { AddressInfo } from 'node:net';
import { about } from '../about.ts';
import { type App, buildApp } from '../app.ts';
import { type DemoCatalogue, seedDemoCatalogue, seedDemoPictures } from '../cheeses/demo.ts';
import { baseUrlOf } from '../config.ts';
import { AppError } from '../errors.ts';
import { restoreTestOrders } from '../orders/test-orders.ts';
import { ConfigError } from '../setting-values.ts';
import { listenErrorText } from '../system-errors.ts';
import { type CommandOptions, configOf, unknownVariables } from './command.ts';

/** Starts the server and returns; it runs until it is told to stop by SIGTERM or SIGINT. */
export async function serve(options: CommandOptions): Promise<void> {
  const config = configOf(options);
  const app = await buildApp(config);
  for (const variable of unknownVariables()) {
    app.log.warn(`${variable} is no setting of Curd: is it misspelt?`);
  }
  try {
    const demo = await seed(app);
    await app.server.listen({ host: config.host, port: config.port });
    await seedPictures(app, demo);
    app.worker.start();
    stopOnSignals(app);
    const isEmpty = (await app.services.keys.listAccounts()).length === 0;
    const isLocal = config.environment === 'local';
    // Only now: a key that is made is also shown.
    const key = isEmpty && isLocal ? await firstKey(app) : null;
    greet(app, options, key, isEmpty && !isLocal);
    logStart(app);
  } catch (error) {
    await app.close();
    const text = listenErrorText(error, config.host, config.port);
    throw text === null ? error : new ConfigError(text);
  }
}

/** @param key of a first start in local @param isEmpty nobody has an account yet, nor gets one by itself */
function greet(
  { server, services }: App,
  options: CommandOptions,
  key: string | null,
  isEmpty: boolean,
): void {
  const { config } = services;
  const { address, port, family } = server.server.address() as AddressInfo;
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  const first = key === null ? '' : keyShown(url, key);
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ url, key })}\n`
      : `Curd is listening on ${url} (${config.environment})\n${isEmpty ? noAccountYet : first}\nReference: ${baseUrlOf(config, port)}/docs   Commands: npx curd --help   Stop: Ctrl+C\n`,
  );
}

function logStart({ server, services, log }: App): void {
  const { config, database } = services;
  const { address, port } = server.server.address() as AddressInfo;
  const { environment } = config;
  const { version } = about;
  log.info(
    { version, environment, engine: database.engine, node: process.version, address, port },
    'started',
  );
}

/** A first start has something to show. */
async function seed({ services }: App): Promise<DemoCatalogue> {
  const { config, cheeses, contextOf } = services;
  if (config.environment === 'production') {
    return new Map();
  }
  const demo = await seedDemoCatalogue(cheeses, contextOf('system'));
  await restoreTestOrders(contextOf('system'));
  return demo;
}

/** Only now, as their addresses follow from where the server listens. A shop can be looked at without them. */
async function seedPictures({ services, imageUrl, log }: App, demo: DemoCatalogue): Promise<void> {
  try {
    await seedDemoPictures(demo, services.images, services.contextOf('system'), imageUrl);
  } catch (error) {
    log.warn({ err: error }, 'the demo pictures could not be stored');
  }
}

/** In local, a database without accounts gets one, and a key. */
async function firstKey({ services }: App): Promise<string | null> {
  const { keys, contextOf } = services;
  try {
    const account = await keys.createAccount(contextOf('system'), 'local');
    return (await keys.create(contextOf('system'), account.id, {})).key;
  } catch (error) {
    // Another server began at the same moment, and shows the key.
    if (error instanceof AppError && error.code === 'conflict') {
      return null;
    }
    throw error;
  }
}

function keyShown(url: string, key: string): string {
  return `
Your first API key, shown this once:

  ${key}

  curl -H "X-API-Key: ${key}" "${url}/v2/cheeses?limit=3"

It reads. A key that may also write:

  WRITER=$(npx curd keys create --account local --scope write:cheeses)
`;
}

const noAccountYet = `
There is no account yet. Make one, and a key for it, with the settings of this server:

  npx curd accounts create <name> --plan pro
  KEY=$(npx curd keys create --account <name>)
`;

/** One signal finishes what runs and leaves; a second one leaves at once. */
function stopOnSignals(app: App): void {
  let isStopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      if (isStopping) {
        app.log.warn({ signal }, 'stopped by a second signal, without waiting for running requests');
        process.exit(1);
      }
      isStopping = true;
      try {
        await app.close();
        app.log.info({ signal, uptimeSeconds: Math.round(process.uptime()) }, 'stopped');
        process.exit(0);
      } catch (error) {
        app.log.error({ err: error }, 'stopping failed');
        process.exit(1);
      }
    });
  }
}

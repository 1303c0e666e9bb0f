/** The steps of a server's start and stop, for the only process of a server and for one of several. */
import type { AddressInfo } from 'node:net';
import { scopeSummaries } from '../../access/access.ts';
import { apiInfo } from '../../app/api-info.ts';
import type { App } from '../../app/build-app.ts';
import { seedDemoCatalogue, seedDemoImages } from '../../app/demo/demo.ts';
import { typeOfKey } from '../../auth/keys/format.ts';
import { consoleAccount } from '../../auth/keys/service.ts';
import { commandName } from '../../command-name.ts';
import { AppError } from '../../errors.ts';
import { restoreTestOrders } from '../../orders/test-orders.ts';
import { ConfigError } from '../../settings/parsers.ts';
import { publicBaseUrl } from '../../settings/urls.ts';
import { consoleLinkUrl } from '../commands/access/console.ts';
import { hasDatabaseUrl, unknownVariables } from '../framework/run-command.ts';
import { type Greeting, localAccount } from './greeting.ts';

export interface Launch {
  /** Whether this process makes what a shop needs once: the demo catalogue, the first key, the link to the console. */
  readonly isFirst: boolean;
  /** Whether other processes listen on the same port. */
  readonly reusePort: boolean;
  /** Whether no other server can have this database open. */
  readonly isOnlyServer: boolean;
}

export interface StartedServer {
  /** null if the start was ended by `stop`. Rejects when the server cannot start; it is closed then. */
  readonly greeting: Promise<Greeting | null>;
  /** Lets running requests finish, then ends the process. Called again, ends it immediately. */
  stop(signal: string): Promise<void>;
}

/** @param onStop called when the server is closed, before the process ends */
export function startServer(app: App, launch: Launch, onStop: () => void): StartedServer {
  const stopping = new AbortController();
  const greeting = start(app, launch, stopping.signal).catch(async (error) => {
    await app.close();
    throw error;
  });
  return {
    greeting,
    async stop(signal) {
      if (stopping.signal.aborted) {
        app.log.warn({ signal }, 'stopped by a second signal, without waiting for running requests');
        process.exit(1);
      }
      stopping.abort();
      try {
        await greeting;
        if (launch.isFirst) {
          await app.oauth.consoleLinks.deleteStartLinks();
        }
        await app.close();
        onStop();
        app.log.info({ signal, uptimeSeconds: Math.round(process.uptime()) }, 'stopped');
        process.exit(0);
      } catch (error) {
        app.log.error({ err: error }, 'stopping failed');
        process.exit(1);
      }
    },
  };
}

/** Runs the steps of the start one after another. A signal ends the start between two steps. */
async function start(app: App, launch: Launch, signal: AbortSignal): Promise<Greeting | null> {
  const { host, port, environment } = app.config;
  const isSeeding = launch.isFirst && environment !== 'production';
  if (launch.isFirst) {
    warn(app);
  }
  const steps = [
    () => app.mail.templates.check(),
    ...(isSeeding ? [() => seed(app)] : []),
    app.operations.instances.requireSharedImages,
    () => app.server.listen({ host, port, ...(launch.reusePort ? { reusePort: true } : {}) }),
    // Comes after listen, because the URLs of images contain the port.
    ...(isSeeding ? [() => seedImages(app)] : []),
    () => app.start(launch.isOnlyServer),
  ];
  for (const step of steps) {
    if (signal.aborted) {
      return null;
    }
    await step();
  }
  return signal.aborted ? null : greet(app, launch);
}

function warn({ config, log, newerSchema }: App): void {
  if (config.database.engine === 'sqlite' && hasDatabaseUrl()) {
    log.warn(
      `DATABASE_URL is set, and Curd does not read it: the shop is in ${config.database.file}. Set CURD_DATABASE to use PostgreSQL.`,
    );
  }
  for (const { name, similar } of unknownVariables()) {
    const remedy = similar.length === 0 ? 'Check the spelling.' : `Did you mean ${similar.join(' or ')}?`;
    log.warn(`${name} is not a setting of Curd. ${remedy}`);
  }
  if (newerSchema !== null) {
    log.warn(newerSchema, 'a newer version of Curd has migrated the database; replace this version soon');
  }
}

/** The last step, so that a key that is created is also printed. */
async function greet(app: App, { isFirst }: Launch): Promise<Greeting> {
  const {
    auth: { keys },
    config,
    oauth: { consoleLinks },
    contextOf,
  } = app;
  const { environment } = config;
  const isEmpty = (await keys.listAccounts()).every(({ name }) => name === consoleAccount);
  const isLocal = environment === 'local';
  const key = isFirst && isLocal ? await keyOfStart(app, isEmpty) : null;
  const hasLink = isFirst && isLocal && config.console === 'on';
  const link = hasLink ? (await consoleLinks.createForStart(contextOf('cli'))).link : null;
  logStart(app);
  const { address, port, family } = app.server.server.address() as AddressInfo;
  const publicUrl = publicBaseUrl(config, port);
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    publicUrl,
    environment,
    key,
    console: link === null ? null : consoleLinkUrl(publicUrl, link),
    isEmpty: isEmpty && !isLocal,
  };
}

function logStart({ server, config, database, log }: App): void {
  const { address, port } = server.server.address() as AddressInfo;
  const { environment } = config;
  const { version } = apiInfo;
  log.info(
    { version, environment, engine: database.engine, node: process.version, address, port },
    'started',
  );
}

/** Seeds the demo catalogue at the first start, and the documented test orders at each start. Not in production. */
async function seed({ cheeses, contextOf }: App): Promise<void> {
  await seedDemoCatalogue(cheeses.service, contextOf('system'));
  await restoreTestOrders(contextOf('system'));
}

/** A failure is only logged: the shop works without images. */
async function seedImages({ images, database, contextOf, fileUrl, log }: App): Promise<void> {
  try {
    await seedDemoImages({ images: images.service, database }, contextOf('system'), fileUrl);
  } catch (error) {
    log.warn({ err: error }, 'the demo images could not be stored');
  }
}

/** The key that a local start prints: that of the settings, or a new one if there is no account. */
async function keyOfStart(app: App, isEmpty: boolean): Promise<string | null> {
  const { config, contextOf } = app;
  const { keys } = app.auth;
  const { localKey } = config;
  if (localKey === null) {
    return isEmpty ? firstKey(app) : null;
  }
  if (typeOfKey(localKey) !== 'test') {
    throw new ConfigError(
      `The checksum of CURD_LOCAL_KEY is wrong, so a character is missing or changed. Take a key that "${commandName} keys create" of a local shop printed.`,
    );
  }
  const accounts = await keys.listAccounts();
  const account =
    accounts.find(({ name }) => name === localAccount) ??
    (await keys.createAccount(contextOf('system'), localAccount));
  await keys.ensure(contextOf('system'), account.id, localKey, Object.keys(scopeSummaries));
  return localKey;
}

/** Creates an account and a key in a local database without accounts. */
async function firstKey({ auth: { keys }, contextOf }: App): Promise<string | null> {
  try {
    const account = await keys.createAccount(contextOf('system'), localAccount);
    return (await keys.create(contextOf('system'), account.id, {})).key;
  } catch (error) {
    // Another server started at the same moment and prints the key.
    if (error instanceof AppError && error.code === 'conflict') {
      return null;
    }
    throw error;
  }
}

/**
 * Runs commands as operators do, with only the given settings. `curd` runs them in the process of the test, one at a time,
 * because a process of its own takes half a second of CPU time. `start` and `curdProcess` start one with bin/curd.js.
 */
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Scope } from '../../src/access/access.ts';
import type { ComposedShop } from '../../src/app/compose.ts';
import type { Cheese } from '../../src/cheeses/schemas.ts';
import { commands, groups } from '../../src/cli/commands/commands.ts';
import { buildCommandTree } from '../../src/cli/framework/command-tree.ts';
import { optionName } from '../../src/cli/framework/options.ts';
import { printFailure } from '../../src/cli/framework/output.ts';
import { runCommand } from '../../src/cli/framework/run-command.ts';
import { storeEnvironment } from '../../src/database/environment.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { toFlag } from '../../src/settings/setting.ts';
import { settings } from '../../src/settings/table.ts';
import { cleanUp, temporaryFolder } from '../context.ts';

const executable = fileURLToPath(new URL('../../bin/curd.js', import.meta.url));

export type Environment = Readonly<Record<string, string>>;

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Starts a command. Only `environment` has settings; CURD_* variables of the test run are removed.
 * @param within a program with arguments that runs the command
 */
export function start(
  args: readonly string[],
  environment: Environment,
  within: readonly string[] = [],
): ChildProcessByStdio<null, Readable, Readable> {
  const [program = '', ...rest] = [...within, process.execPath, executable, ...args];
  return spawn(program, rest, {
    cwd: environment.CURD_DATA_DIR ?? tmpdir(),
    env: { ...inherited(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Starts a program of examples/. */
export function startExample(
  name: string,
  environment: Environment,
  ...args: string[]
): ReturnType<typeof start> {
  const file = fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
  return spawn(process.execPath, [file, ...args], {
    env: { ...inherited(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function inherited(): Record<string, string | undefined> {
  const entries = Object.entries(process.env);
  return Object.fromEntries(
    entries.filter(([name]) => !name.startsWith('CURD_') && name !== 'NODE_TEST_CONTEXT'),
  );
}

/** Runs a command in a process of its own until it ends. */
export function curdProcess(environment: Environment, ...args: string[]): Promise<Run> {
  return resultOf(start(args, environment));
}

/** Thrown in place of process.exit. */
class Exit extends Error {}

let running: Promise<unknown> = Promise.resolve();

/** Runs a command in this process until it ends: its arguments are parsed, and what it writes is read. */
export function curd(environment: Environment, ...args: string[]): Promise<Run> {
  // A server has workers and signal handlers, and should end only with its process.
  if (args[0] === 'serve') {
    return curdProcess(environment, ...args);
  }
  return curdIn(environment.CURD_DATA_DIR ?? tmpdir(), environment, args);
}

/** Runs a command in this process, in a folder. */
export function curdIn(folder: string, environment: Environment, args: readonly string[]): Promise<Run> {
  const run = running.then(() => runInPlace(folder, environment, args));
  running = run.catch(() => {});
  return run;
}

/** Gives the process the settings, the folder and the streams of a command while it runs. */
async function runInPlace(folder: string, environment: Environment, args: readonly string[]): Promise<Run> {
  const { env, exit, exitCode } = process;
  const folderBefore = process.cwd();
  const umask = process.umask(0o077);
  const stdout = collectTexts(process.stdout);
  const stderr = collectTexts(process.stderr);
  process.chdir(folder);
  process.env = { ...inherited(), ...environment };
  process.exitCode = 0;
  process.exit = (code = process.exitCode) => {
    process.exitCode = code;
    throw new Exit();
  };
  try {
    await buildCommandTree(commands, groups).parseAsync(['node', 'curd', ...args]);
  } catch (error) {
    if (!(error instanceof Exit)) {
      printFailure(error);
    }
  }
  const code = Number(process.exitCode);
  Object.assign(process, { env, exit, exitCode });
  process.chdir(folderBefore);
  process.umask(umask);
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Keeps what is written to a stream as text, until the returned function is called. The test runner writes bytes. */
function collectTexts(stream: NodeJS.WriteStream): () => string {
  const { write } = stream;
  let collected = '';
  stream.write = ((...values: unknown[]) => {
    if (typeof values[0] === 'string') {
      collected += values[0];
      return true;
    }
    return Reflect.apply(write, stream, values) as boolean;
  }) as typeof write;
  return () => {
    stream.write = write;
    return collected;
  };
}

/** The output and exit status of a started command when it has ended. */
export async function resultOf(child: ReturnType<typeof start>): Promise<Run> {
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

/** Runs a command with --json, asserts that it succeeds, and returns the value. */
// biome-ignore lint/suspicious/noExplicitAny: tests know what to expect in it.
export async function curdJson(environment: Environment, ...args: string[]): Promise<any> {
  const run = await curd(environment, ...args, '--json');
  assert.equal(run.code, 0, run.stderr);
  assert.equal(run.stderr, '');
  assert.match(run.stdout, /^.*\n$/, 'more than one line on standard output');
  return JSON.parse(run.stdout);
}

/** Asserts one sentence on standard error, nothing on standard output, and exit status 1. */
export function assertRefused(run: Run, ...says: RegExp[]): void {
  assert.equal(run.stdout, '');
  assert.match(run.stderr, /^curd: [^\n]{20,}\n$/);
  assert.doesNotMatch(run.stderr, /^\s+at |undefined|\[object|sk_(live|test)_/m);
  for (const words of says) {
    assert.match(run.stderr, words);
  }
  assert.equal(run.code, 1);
}

/** A command that must fail: what is wrong, a function that runs it, and patterns of the message. */
export type Refusal = readonly [name: string, command: () => unknown, ...says: RegExp[]];

/** Asserts that each fails with one sentence. Use `assertRefused` for the output of a process. */
export async function assertEachRefused(t: TestContext, refusals: readonly Refusal[]): Promise<void> {
  for (const [name, command, ...says] of refusals) {
    await t.test(`A command is refused: ${name}`, async () => {
      const { message } = await errorOf(command);
      assert.match(message, /^[^\n]{14,}$/);
      assert.doesNotMatch(message, /undefined|\[object|sk_(live|test)_/);
      for (const words of says) {
        assert.match(message, words);
      }
    });
  }
}

async function errorOf(command: () => unknown): Promise<Error> {
  try {
    await command();
  } catch (error) {
    assert.ok(error instanceof Error);
    return error;
  }
  throw new assert.AssertionError({ message: 'the command did not fail' });
}

/**
 * Runs the code of a command without its output. Throws what the command throws.
 * @param options as texts, by name in camel case
 */
export function runInProcess(
  environment: Environment,
  name: string,
  args: readonly string[] = [],
  options: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const command = commands.find((one) => one.name === name);
  assert.ok(command !== undefined, `there is no command ${name}`);
  // Each setting is given as a flag, so that the environment of the test run is not read.
  const flags = Object.values(settings).map(({ variable }) => [
    optionName(toFlag(variable)),
    environment[variable] ?? '',
  ]);
  return runCommand(command, args, { ...Object.fromEntries(flags), ...options });
}

/** Uses the services of a shop in this process. */
export async function inShop<T>(
  environment: Environment,
  work: (services: ComposedShop) => T,
): Promise<Awaited<T>> {
  const { composeShop } = await import('../../src/app/compose.ts');
  const services = await composeShop(loadConfig(environment));
  try {
    return await work(services);
  } finally {
    await services.close();
  }
}

/** Changes the stored environment of a shop and nothing else. */
export function storeEnvironmentOf(environment: Environment, to: 'local' | 'sandbox' | 'production') {
  return inShop(environment, ({ database }) => storeEnvironment(database, to));
}

let accounts = 0;

/** A new account with a key. */
export function accountWithKey(
  environment: Environment,
  scopes: readonly Scope[] = [],
  { plan, type }: { readonly plan?: string; readonly type?: 'live' | 'test' } = {},
): Promise<{ readonly account: string; readonly key: string }> {
  return inShop(environment, async ({ auth: { keys }, contextOf }) => {
    accounts += 1;
    const { id, name } = await keys.createAccount(contextOf('test'), `account ${accounts}`, plan);
    const { key } = await keys.create(contextOf('test'), id, { scopes, type });
    return { account: name, key };
  });
}

/** Creates cheeses with these prices per kilogram, and a key with these scopes. */
export async function createStock(
  environment: Environment,
  { prices, scopes }: { readonly prices: readonly (number | undefined)[]; readonly scopes: readonly Scope[] },
): Promise<{ readonly key: string; readonly cheeses: readonly number[] }> {
  const ids = await inShop(environment, async ({ cheeses: { service: cheeses }, contextOf }) => {
    const made: number[] = [];
    for (const [index, pricePerKg] of prices.entries()) {
      const price = pricePerKg === undefined ? {} : { pricePerKg };
      made.push((await cheeses.create(contextOf('test'), { name: `Cheese ${index}`, ...price })).id);
    }
    return made;
  });
  return { key: (await accountWithKey(environment, scopes)).key, cheeses: ids };
}

/** The first thousand cheeses of a shop in order of creation. */
export function cheesesIn(environment: Environment): Promise<Cheese[]> {
  return inShop(environment, async ({ cheeses: { service: cheeses } }) =>
    (await cheeses.listAfter(0, 1000)).map(({ body }) => JSON.parse(body)),
  );
}

export interface RunningServer {
  readonly url: string;
  readonly pid: number;
  /** The output until the last line of the greeting. */
  readonly greeting: string;
  /** The key in the greeting, if any. */
  readonly firstKey: string | null;
  /** Sends a signal and waits until the process ends. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; stderr: string }>;
  /** The status of a request to the catalogue with a key. */
  statusFor(key: string, method?: string): Promise<number>;
}

/** Starts the server on a free port. It is stopped after the test at the latest. */
export async function serve(
  t: TestContext,
  environment: Environment,
  within: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<RunningServer> {
  const child = start(['serve', '--port', '0', ...flags], environment, within);
  const stderr = text(child.stderr);
  const closed = once(child, 'close');
  cleanUp(t, async () => {
    child.kill('SIGKILL');
    await closed;
  });
  let greeting = '';
  for await (const piece of child.stdout) {
    greeting += piece;
    if (greeting.includes('Stop: Ctrl+C')) {
      break;
    }
  }
  const url = /^Curd is listening on (http:\/\/\S+)/.exec(greeting)?.[1];
  assert.ok(url !== undefined, `${greeting}\n${child.exitCode === null ? '' : await stderr}`);
  return {
    url,
    pid: child.pid ?? 0,
    greeting,
    firstKey: /\bsk_(?:live|test)_\w+/.exec(greeting)?.[0] ?? null,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const [code] = await closed;
      return { code, stderr: await stderr };
    },
    async statusFor(key, method = 'GET') {
      const body = method === 'GET' ? null : JSON.stringify({ name: `Cheese ${Math.random()}` });
      const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
      const response = await fetch(`${url}/v2/cheeses`, { method, headers, body });
      await response.arrayBuffer();
      return response.status;
    },
  };
}

/** Settings with a data folder that is deleted after the test, and a log of warnings and errors only. */
export async function freshShop(t: TestContext, more: Environment = {}): Promise<Environment> {
  return { CURD_DATA_DIR: await temporaryFolder(t), CURD_LOG_LEVEL: 'warn', ...more };
}

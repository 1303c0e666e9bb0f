/** Runs bin/curd.js as its users do: a process of its own, in an empty folder, with nothing but given settings. */
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cleanUp, temporaryFolder } from '../context.ts';

const executable = fileURLToPath(new URL('../../bin/curd.js', import.meta.url));

export type Environment = Readonly<Record<string, string>>;

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts one command. Settings of ours come from the test alone, whatever stands in the environment of the run. */
export function start(
  args: readonly string[],
  environment: Environment,
): ChildProcessByStdio<null, Readable, Readable> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('CURD_') && name !== 'NODE_TEST_CONTEXT',
  );
  return spawn(process.execPath, [executable, ...args], {
    cwd: environment.CURD_DATA_DIR ?? tmpdir(),
    env: { ...Object.fromEntries(inherited), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs one command to its end. */
export function curd(environment: Environment, ...args: string[]): Promise<Run> {
  return ended(start(args, environment));
}

/** What a command that was started has said, once it is through. */
export async function ended(child: ReturnType<typeof start>): Promise<Run> {
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

/** Runs one command that must succeed with --json, and gives what it printed. */
// biome-ignore lint/suspicious/noExplicitAny: tests know what to expect in it.
export async function curdJson(environment: Environment, ...args: string[]): Promise<any> {
  const run = await curd(environment, ...args, '--json');
  assert.equal(run.code, 0, run.stderr);
  assert.equal(run.stderr, '');
  assert.match(run.stdout, /^.*\n$/, 'more than one line on standard output');
  return JSON.parse(run.stdout);
}

/** One sentence on standard error, nothing on standard output, exit status 1. */
export function assertRefused(run: Run, ...says: RegExp[]): void {
  assert.equal(run.stdout, '');
  assert.match(run.stderr, /^curd: [^\n]{20,}\n$/);
  assert.doesNotMatch(run.stderr, /^\s+at |undefined|\[object|sk_(live|test)_/m);
  for (const words of says) {
    assert.match(run.stderr, words);
  }
  assert.equal(run.code, 1);
}

export interface RunningServer {
  readonly url: string;
  /** Everything up to and including the last line of the greeting. */
  readonly greeting: string;
  /** Sends a signal, and answers how the process ended. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; stderr: string }>;
  /** The status that a key gets for a request of the catalogue. */
  statusFor(key: string, method?: string): Promise<number>;
}

/** Starts the server on a free port, and stops it with the test at the latest. */
export async function serve(t: TestContext, environment: Environment): Promise<RunningServer> {
  const child = start(['serve', '--port', '0'], environment);
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
    greeting,
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

/** An environment whose data goes away with the test. */
export async function freshShop(t: TestContext, more: Environment = {}): Promise<Environment> {
  return { CURD_DATA_DIR: await temporaryFolder(t), ...more };
}

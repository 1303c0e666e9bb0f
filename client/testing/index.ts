/// <reference types="node" />
/** Starts a server for tests. For Node.js, not for browsers. */
import { spawn } from 'node:child_process';

export interface EphemeralServer {
  readonly url: string;
  /** A key with every scope but `admin`. */
  readonly key: string;
  /** A key with every scope. */
  readonly adminKey: string;
  /** Ends the server. Its shop is deleted. */
  readonly stop: () => Promise<void>;
}

export interface EphemeralOptions {
  /** The program that runs Curd, with its first arguments: `['npx', '--no', 'curd']` by default, the installed one. */
  readonly command?: readonly string[];
}

/** Without `--no`, npx installs and runs an unrelated package of the registry if Curd is not installed. */
const installedCurd = ['npx', '--no', 'curd'];

/** Starts of npx can take long on a busy machine. */
const startMs = 60_000;
const installRemedy =
  'Curd is not installed in this project: run "npm ci --omit=dev && npm pack" in a clone of Curd, and "npm install --save-dev <the file>" here, or set "command".';
const stopMs = 10_000;
const errorLengthMax = 4000;

/**
 * Starts `curd serve --ephemeral`: a server on a free port with a shop of its own, a movable clock, the demo catalogue and
 * ten test orders. It ends with this process at the latest. Settings are read from the environment.
 */
export async function startEphemeral({
  command = installedCurd,
}: EphemeralOptions = {}): Promise<EphemeralServer> {
  const [program = '', ...first] = command;
  const child = spawn(program, [...first, 'serve', '--ephemeral', '--stop-with-stdin', '--json'], {
    // The server ends when this process does, because its standard input ends then.
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { CURD_LOG_LEVEL: 'error', ...process.env },
    shell: process.platform === 'win32',
  });
  const { stdin, stdout, stderr } = child;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let errors = '';
  stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-errorLengthMax);
  });

  async function stop(): Promise<void> {
    stdin.end();
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMs);
    await ended;
    clearTimeout(timer);
  }

  const greeting = await new Promise<string>((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => fail('it did not listen within 60 s'), startMs);
    const fail = (reason: string) => {
      clearTimeout(timer);
      const remedy = /missing packages/.test(errors) ? ` ${installRemedy}` : '';
      reject(
        new Error(
          `The server did not start: ${reason}. ${command.join(' ')} wrote: ${errors.trim()}${remedy}`,
        ),
      );
    };
    child.once('error', ({ message }) => fail(message));
    child.once('close', () => fail('it ended'));
    stdin.on('error', () => {});
    stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (text.includes('\n')) {
        clearTimeout(timer);
        resolve(text);
      }
    });
  }).catch(async (error) => {
    child.kill();
    throw error;
  });
  // A test that forgets to stop the server can end.
  for (const handle of [child, stdin, stdout, stderr] as { unref?: () => void }[]) {
    handle.unref?.();
  }
  const { url, key, adminKey } = JSON.parse(greeting);
  return { url, key, adminKey, stop };
}

/** Server processes that a bench starts and measures from outside. Each prints its port. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Running {
  readonly port: number;
  readonly pid: number;
  /** From the start of the process to the line with its URL. */
  readonly startMs: number;
  /** Resident memory in MB (Linux; NaN elsewhere). */
  memoryMb(): number;
  /** CPU seconds used so far (Linux; NaN elsewhere). Other load on the machine changes them less than a rate. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

const curd = fileURLToPath(new URL('../bin/curd.js', import.meta.url));
const limits = fileURLToPath(new URL('limits.ts', import.meta.url));

/** Starts a server. @param executable bin/curd.js of another checkout */
export function startCurd(environment: Record<string, string>, executable = curd): Promise<Running> {
  const settings = ['--json', '--port', '0', '--log-level', 'warn'];
  return start([...nodeFlags(), executable, 'serve', ...settings], environment);
}

/** The flags of Node in the script `npm start`. */
function nodeFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return scripts.start.split(' ').filter((part: string) => part.startsWith('--'));
}

/** Starts the process of limits.ts. */
export function startLimits(input: unknown, environment: Record<string, string> = {}): Promise<Running> {
  return start([limits], environment, JSON.stringify(input));
}

async function start(
  args: readonly string[],
  environment: Record<string, string>,
  input = '',
): Promise<Running> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(input);
  const line = await firstLine(child);
  const port = Number(/(\d+)\D*$/.exec(line.replace(/,"key".*/, ''))?.[1]);
  return {
    port,
    pid: child.pid ?? 0,
    startMs: performance.now() - startedAt,
    memoryMb: () => residentMb(child.pid ?? 0),
    cpuSeconds: () => cpuSecondsOf(child.pid ?? 0),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) {
        resolve(text.split('\n', 1)[0] ?? '');
      }
    });
    child.once('exit', (code) => reject(new Error(`The process ended with ${code} before it listened.`)));
  });
}

function residentMb(pid: number): number {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes) / 1024;
  } catch {
    return Number.NaN;
  }
}

/** CPU time from fields 14 and 15 of /proc/<pid>/stat: user and system time in hundredths of a second. */
export function cpuSecondsOf(pid: number): number {
  const [, , , , , , , , , , , user, system] = statOf(pid);
  return (Number(user) + Number(system)) / 100;
}

/** CPU time of the PostgreSQL that this process has started (Linux; NaN elsewhere). */
export function postgresCpuSeconds(): number {
  const pids = readdirSync('/proc').map(Number).filter(Number.isSafeInteger);
  const children = (parent: number) => pids.filter((pid) => statOf(pid)[1] === String(parent));
  const [server] = children(process.pid).filter((pid) => children(pid).length > 0 && isPostgres(pid));
  return server === undefined
    ? Number.NaN
    : children(server).reduce((sum, pid) => sum + (cpuSecondsOf(pid) || 0), 0);
}

function isPostgres(pid: number): boolean {
  return readFileSync(`/proc/${pid}/comm`, 'utf8') === 'postgres\n';
}

/** The fields of /proc/<pid>/stat from the third one; none when the process has ended. */
function statOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
  } catch {
    return [];
  }
}

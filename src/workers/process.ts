/**
 * Work that would keep other requests waiting, in processes of their own that give way to whatever else there is to do.
 * Both ends of the line are here: the server starts a helper and hands it tasks, the helper serves them.
 */
import { fork } from 'node:child_process';
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import { constants, setPriority } from 'node:os';
import { dirname } from 'node:path';

type Message<Outcome> = { readonly value: Outcome } | { readonly fault: string };

interface Waiting<Outcome> {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** The helper ended before it had an outcome: killed, out of memory, or brought down by what it was given. */
export class WorkerExited extends Error {}

/** Does one task after the other, and keeps this process alive only while it does. */
export interface WorkerProcess<Task, Outcome> {
  isAlive(): boolean;
  /** @throws HelperGone, and an Error with the words of whatever the task threw */
  run(task: Task): Promise<Outcome>;
  /** At once, even in the middle of a task. */
  kill(): void;
}

/** Starts the program `file`, which is to call `serveTasks`. `onEnd` is told once, whatever ended it. */
export function startWorkerProcess<Task, Outcome>(
  file: URL,
  onEnd: () => void,
): WorkerProcess<Task, Outcome> {
  const cache = getCompileCacheDir();
  const child = fork(file, {
    execArgv: [],
    env: {
      // One heap for all threads: glibc would give each its own, and memory back from none of them.
      MALLOC_ARENA_MAX: '1',
      // Compiled code is kept between starts, as in bin/curd.js: 100 ms instead of 190 to the first password.
      ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) }),
    },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  /** In the order in which they were sent, which is that of the answers. */
  let waiting: Waiting<Outcome>[] = [];
  let isAlive = true;
  function end(): void {
    if (isAlive) {
      isAlive = false;
      for (const { reject } of waiting) {
        reject(new WorkerExited('the helper process ended before its task'));
      }
      waiting = [];
      onEnd();
    }
  }
  // Each task that is sent to a process that is gone is an error of its own.
  child.on('error', end);
  child.once('exit', end);
  child.on('message', (message: Message<Outcome>) => {
    const first = waiting.shift();
    if (waiting.length === 0) {
      child.channel?.unref();
    }
    if ('fault' in message) {
      first?.reject(new Error(message.fault));
    } else {
      first?.resolve(message.value);
    }
  });
  child.unref();
  child.channel?.unref();

  return {
    isAlive: () => isAlive,
    run: (task) =>
      new Promise((resolve, reject) => {
        if (!isAlive) {
          reject(new WorkerExited('the helper process has ended'));
          return;
        }
        waiting.push({ resolve, reject });
        child.channel?.ref();
        child.send(task as object);
      }),
    kill: () => child.kill('SIGKILL'),
  };
}

/** Makes the process that calls it a helper, which does `work` with whatever it is sent. */
export function serveTasks<Task, Outcome>(work: (task: Task) => Outcome | Promise<Outcome>): void {
  setPriority(constants.priority.PRIORITY_LOW);
  // A terminal and a supervisor tell the whole group to stop. The server still finishes what runs; when it is gone, the
  // channel closes and so do we.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {});
  }
  let last = Promise.resolve();
  process.on('message', (task: Task) => {
    last = last.then(async () => {
      const message = await messageOf(work, task);
      // Nobody is there to be told of a server that is gone.
      process.send?.(message, undefined, undefined, () => {});
      // Whoever is killed has no other time for it.
      flushCompileCache();
    });
  });
}

async function messageOf<Task, Outcome>(
  work: (task: Task) => Outcome | Promise<Outcome>,
  task: Task,
): Promise<Message<Outcome>> {
  try {
    return { value: await work(task) };
  } catch (error) {
    return { fault: String(error) };
  }
}

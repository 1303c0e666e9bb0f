/**
 * Child processes of low priority, for tasks that would delay other requests. This file contains both sides: the server
 * calls `startChild`, and the program of the child calls `serveTasks`.
 */
import { fork } from 'node:child_process';
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import { constants, setPriority } from 'node:os';
import { dirname } from 'node:path';

type Message<Outcome> = { readonly value: Outcome } | { readonly error: string };

interface PendingTask<Outcome> {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** The process ended before the task: it was killed, ran out of memory, or crashed. */
export class ChildExited extends Error {}

/** Runs one task after another. It keeps the server process alive only while it has a task. */
export interface Child<Task, Outcome> {
  isAlive(): boolean;
  /** @throws ChildExited, and an Error with the message of what the task threw */
  run(task: Task): Promise<Outcome>;
  /** Ends the process at once, even during a task. */
  kill(): void;
}

/** The flag with which stack traces of the bundle name files and lines of the sources, as those of bin/curd.js do. */
export const sourceMaps = ['--enable-source-maps'];

/** Starts the program `file`, which calls `serveTasks`. `onExit` is called once, when the process has ended. */
export function startChild<Task, Outcome>(file: URL, onExit: () => void): Child<Task, Outcome> {
  const cache = getCompileCacheDir();
  const child = fork(file, {
    execArgv: sourceMaps,
    env: {
      // One heap for all threads. glibc would give each thread its own, and return memory of none of them.
      MALLOC_ARENA_MAX: '1',
      // The compile cache of bin/curd.js: the first password takes 100 ms instead of 190.
      ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) }),
    },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  /** Sorted as they were sent. Results arrive in the same order. */
  let pending: PendingTask<Outcome>[] = [];
  let isAlive = true;
  function handleExit(): void {
    if (isAlive) {
      isAlive = false;
      for (const { reject } of pending) {
        reject(new ChildExited('The child process ended before its task.'));
      }
      pending = [];
      onExit();
    }
  }
  // 'error' is emitted once for each task that is sent after the process ended.
  child.on('error', handleExit);
  child.once('exit', handleExit);
  child.on('message', (message: Message<Outcome>) => {
    const first = pending.shift();
    if (pending.length === 0) {
      child.channel?.unref();
    }
    if ('error' in message) {
      first?.reject(new Error(message.error));
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
        // A missing process id means that the process could not be started: too many files or processes are open.
        if (!isAlive || child.pid === undefined) {
          reject(new ChildExited('The child process has ended.'));
          return;
        }
        pending.push({ resolve, reject });
        child.channel?.ref();
        child.send(task as object);
      }),
    kill: () => child.kill('SIGKILL'),
  };
}

/** Turns this process into a child that calls `work` with each task it receives. */
export function serveTasks<Task, Outcome>(work: (task: Task) => Outcome | Promise<Outcome>): void {
  setPriority(constants.priority.PRIORITY_LOW);
  // A terminal and a supervisor send signals to the whole process group, but the server still needs the tasks that run.
  // The child ends when the server ends, because the channel closes.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {});
  }
  let last = Promise.resolve();
  process.on('message', (task: Task) => {
    last = last.then(async () => {
      const message = await messageOf(work, task);
      // The callback ignores the error that the server has ended.
      process.send?.(message, undefined, undefined, () => {});
      // Children end by SIGKILL, which leaves no time to write the cache.
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
    return { error: String(error) };
  }
}

/**
 * Work that would keep other requests waiting, in processes of their own that give way to whatever else there is to do.
 * Both ends of the line are here: the server starts a helper and hands it tasks, the helper serves them.
 */
import { fork } from 'node:child_process';
import { constants, setPriority } from 'node:os';

type Message<Outcome> = { readonly value: Outcome } | { readonly fault: string };

/** The helper ended before it had an outcome: killed, out of memory, or brought down by what it was given. */
export class HelperGone extends Error {}

/** Does one task at a time, and keeps this process alive only while it does. */
export interface HelperProcess<Task, Outcome> {
  isAlive(): boolean;
  /** @throws HelperGone, and an Error with the words of whatever the task threw */
  run(task: Task): Promise<Outcome>;
  /** At once, even in the middle of a task. */
  kill(): void;
}

/** Starts the program `file`, which is to call `serveTasks`. `onEnd` is told once, whatever ended it. */
export function startHelperProcess<Task, Outcome>(
  file: URL,
  onEnd: () => void,
): HelperProcess<Task, Outcome> {
  const child = fork(file, {
    execArgv: [],
    // One heap for all threads: glibc would give each its own, and memory back from none of them.
    env: { MALLOC_ARENA_MAX: '1' },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let isAlive = true;
  function end(): void {
    if (isAlive) {
      isAlive = false;
      onEnd();
    }
  }
  child.once('error', end);
  child.once('exit', end);
  child.unref();
  child.channel?.unref();

  return {
    isAlive: () => isAlive,
    run: (task) =>
      new Promise((resolve, reject) => {
        const fail = () => reject(new HelperGone('the helper process ended in the middle of its task'));
        child.once('exit', fail);
        child.once('error', fail);
        child.channel?.ref();
        child.once('message', (message: Message<Outcome>) => {
          child.channel?.unref();
          child.off('exit', fail);
          child.off('error', fail);
          if ('fault' in message) {
            reject(new Error(message.fault));
          } else {
            resolve(message.value);
          }
        });
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
  process.on('message', async (task: Task) => {
    const message = await messageOf(work, task);
    // Nobody is there to be told of a server that is gone.
    process.send?.(message, undefined, undefined, () => {});
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

/**
 * A bounded set of child processes. Callers wait for a slot in queues: each queue has its own limits, and queues take
 * turns, so that a long queue does not delay another.
 */
import { type Child, ChildExited, startChild } from './child.ts';

export interface QueueOptions {
  /** Slots that callers of this queue have at the same time. */
  readonly concurrency: number;
  /** Tasks that may wait. A caller that gets a slot at once is never refused. */
  readonly waitingMax: number;
}

export interface ChildPoolOptions<Queue extends string> {
  /** The program of the child process, which calls `serveTasks`. */
  readonly file: URL;
  /** Processes start when they are first needed. */
  readonly childrenMax: number;
  /** Two give a child its next task before it finishes one. */
  readonly slotsPerChild: number;
  readonly queues: Readonly<Record<Queue, QueueOptions>>;
  /** How long after the last task the children end and free their memory. By default they do not end. */
  readonly idleMs?: number;
  /** A child that needs longer for a task is killed. */
  readonly taskTimeoutMs?: number;
}

/** The right to run tasks in one child process, until the slot is disposed. */
export interface ChildSlot<Task, Outcome> extends Disposable {
  /** @throws ChildExited, TaskTimedOut, and an Error with the message of what the task threw */
  run(task: Task): Promise<Outcome>;
}

export interface ChildPool<Task, Outcome, Queue extends string> {
  /** Waits for a slot. @throws QueueFull */
  acquire(queue: Queue): Promise<ChildSlot<Task, Outcome>>;
  /**
   * Waits for several slots. Other queues have their turns between them, so hold each for one task only. Dispose of all
   * of them. @throws QueueFull if not all of them may wait
   */
  acquireAll(queue: Queue, howMany: number): Promise<ChildSlot<Task, Outcome>>[];
  /** Slots in use, and tasks that wait for one. */
  stats(): { readonly running: number; readonly waiting: number };
  /** Ends the children that have nothing to do. */
  close(): void;
}

/** Too many tasks wait in the queue. */
export class QueueFull extends Error {}

/** The child was killed because the task took too long. */
export class TaskTimedOut extends Error {}

interface PooledChild<Task, Outcome> {
  readonly child: Child<Task, Outcome>;
  slots: number;
}

interface QueueState<Pooled> extends QueueOptions {
  readonly name: string;
  running: number;
  readonly waiting: ((child: Pooled) => void)[];
}

/** Creates a pool. It starts no child yet. */
export function createChildPool<Task, Outcome, Queue extends string>(
  options: ChildPoolOptions<Queue>,
): ChildPool<Task, Outcome, Queue> {
  type Pooled = PooledChild<Task, Outcome>;
  const { file, childrenMax, slotsPerChild, idleMs, taskTimeoutMs } = options;
  /** Sorted by their turns. */
  let queues = Object.entries<QueueOptions>(options.queues).map(
    ([name, queue]): QueueState<Pooled> => ({ ...queue, name, running: 0, waiting: [] }),
  );
  let children: Pooled[] = [];
  let idleTimer: NodeJS.Timeout | undefined;

  /** Gives free slots to waiting callers. The queues take turns. */
  function startWaiting(): void {
    for (;;) {
      const queue = queues.find(
        ({ waiting, running, concurrency }) => waiting.length > 0 && running < concurrency,
      );
      const start = queue?.waiting[0];
      const child = start && chooseChild();
      if (queue === undefined || start === undefined || child === undefined) {
        return;
      }
      clearTimeout(idleTimer);
      queues = [...queues.filter((other) => other !== queue), queue];
      queue.waiting.shift();
      queue.running += 1;
      child.slots += 1;
      start(child);
    }
  }

  /** The child with the fewest slots in use, or a new one. undefined when all slots are in use. */
  function chooseChild(): Pooled | undefined {
    const [freest] = children.toSorted((a, b) => a.slots - b.slots);
    if (freest !== undefined && (freest.slots === 0 || children.length === childrenMax)) {
      return freest.slots < slotsPerChild ? freest : undefined;
    }
    const started = { child: startChild<Task, Outcome>(file, removeExited), slots: 0 };
    children.push(started);
    return started;
  }

  function removeExited(): void {
    children = children.filter(({ child }) => child.isAlive());
    startWaiting();
  }

  function release(queue: QueueState<Pooled>, child: Pooled): void {
    queue.running -= 1;
    child.slots -= 1;
    startWaiting();
    if (idleMs !== undefined && children.every(({ slots }) => slots === 0)) {
      clearTimeout(idleTimer);
      idleTimer = setTimeout(close, idleMs).unref();
    }
  }

  function close(): void {
    for (const { child } of children.filter(({ slots }) => slots === 0)) {
      child.kill();
    }
    children = children.filter(({ slots }) => slots > 0);
  }

  async function runTask(child: Child<Task, Outcome>, task: Task): Promise<Outcome> {
    if (taskTimeoutMs === undefined) {
      return child.run(task);
    }
    let hasTimedOut = false;
    const timer = setTimeout(() => {
      hasTimedOut = true;
      child.kill();
    }, taskTimeoutMs);
    try {
      return await child.run(task);
    } catch (error) {
      throw hasTimedOut && error instanceof ChildExited
        ? new TaskTimedOut(`The task took longer than ${taskTimeoutMs} ms.`)
        : error;
    } finally {
      clearTimeout(timer);
    }
  }

  function stats(): { running: number; waiting: number } {
    return {
      running: queues.reduce((sum, { running }) => sum + running, 0),
      waiting: queues.reduce((sum, { waiting }) => sum + waiting.length, 0),
    };
  }

  function acquireAll(name: Queue, howMany: number): Promise<ChildSlot<Task, Outcome>>[] {
    const queue = queues.find((candidate) => candidate.name === name) as QueueState<Pooled>;
    const isFree = queue.running < queue.concurrency && stats().running < childrenMax * slotsPerChild;
    if (!isFree && queue.waiting.length + howMany > queue.waitingMax) {
      throw new QueueFull(`${queue.waiting.length} tasks wait already.`);
    }
    return Array.from({ length: howMany }, async (): Promise<ChildSlot<Task, Outcome>> => {
      const child = await new Promise<Pooled>((start) => {
        queue.waiting.push(start);
        startWaiting();
      });
      return {
        run: (task) => runTask(child.child, task),
        [Symbol.dispose]: () => release(queue, child),
      };
    });
  }

  return {
    acquire: async (queue) => acquireAll(queue, 1)[0] as Promise<ChildSlot<Task, Outcome>>,
    acquireAll,
    stats,
    close,
  };
}

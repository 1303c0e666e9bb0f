/**
 * A bounded set of worker processes. Callers wait for a slot in lanes: each lane has its own limits, and lanes take
 * turns, so that a long queue in one lane does not delay another.
 */
import { startWorkerProcess, WorkerExited, type WorkerProcess } from './process.ts';

export interface LaneOptions {
  /** Slots that callers of this lane have at the same time. */
  readonly concurrency: number;
  /** Tasks that may wait. A caller that gets a slot at once is never refused. */
  readonly queueMax: number;
}

export interface WorkerPoolOptions<Lane extends string> {
  /** The program of the worker process, which calls `serveTasks`. */
  readonly file: URL;
  /** Processes start when they are first needed. */
  readonly processesMax: number;
  /** Two give a process its next task before it finishes one. */
  readonly slotsPerProcess: number;
  readonly lanes: Readonly<Record<Lane, LaneOptions>>;
  /** How long after the last task the processes end and free their memory. By default they do not end. */
  readonly idleMs?: number;
  /** A process that needs longer for a task is killed. */
  readonly taskTimeoutMs?: number;
}

/** The right to run tasks in one worker process, until the slot is disposed. */
export interface WorkerSlot<Task, Outcome> extends Disposable {
  /** @throws WorkerExited, TaskTimedOut, and an Error with the message of what the task threw */
  run(task: Task): Promise<Outcome>;
}

export interface WorkerPool<Task, Outcome, Lane extends string> {
  /** Waits for a slot. @throws QueueFull */
  acquire(lane: Lane): Promise<WorkerSlot<Task, Outcome>>;
  /**
   * Waits for several slots. Other lanes have their turns between them, so hold each for one task only. Dispose of all
   * of them. @throws QueueFull where not all of them may wait
   */
  acquireAll(lane: Lane, howMany: number): Promise<WorkerSlot<Task, Outcome>>[];
  /** Slots in use, and tasks that wait for one. */
  stats(): { readonly running: number; readonly waiting: number };
  /** Ends the processes that have nothing to do. */
  close(): void;
}

/** Too many tasks wait in the lane. */
export class QueueFull extends Error {}

/** The process was killed because the task took too long. */
export class TaskTimedOut extends Error {}

interface PooledProcess<Task, Outcome> {
  readonly process: WorkerProcess<Task, Outcome>;
  slots: number;
}

interface LaneState<Process> extends LaneOptions {
  readonly name: string;
  running: number;
  readonly waiting: ((process: Process) => void)[];
}

/** Creates a pool. It starts no process yet. */
export function createWorkerPool<Task, Outcome, Lane extends string>(
  options: WorkerPoolOptions<Lane>,
): WorkerPool<Task, Outcome, Lane> {
  type Process = PooledProcess<Task, Outcome>;
  const { file, processesMax, slotsPerProcess, idleMs, taskTimeoutMs } = options;
  /** Sorted by their turns. */
  let lanes = Object.entries<LaneOptions>(options.lanes).map(
    ([name, lane]): LaneState<Process> => ({ ...lane, name, running: 0, waiting: [] }),
  );
  let processes: Process[] = [];
  let idleTimer: NodeJS.Timeout | undefined;

  /** Gives free slots to waiting callers. The lanes take turns. */
  function startWaiting(): void {
    for (;;) {
      const lane = lanes.find(
        ({ waiting, running, concurrency }) => waiting.length > 0 && running < concurrency,
      );
      const start = lane?.waiting[0];
      const process = start && chooseProcess();
      if (lane === undefined || start === undefined || process === undefined) {
        return;
      }
      clearTimeout(idleTimer);
      lanes = [...lanes.filter((one) => one !== lane), lane];
      lane.waiting.shift();
      lane.running += 1;
      process.slots += 1;
      start(process);
    }
  }

  /** The process with the fewest slots in use, or a new one. undefined when all slots are in use. */
  function chooseProcess(): Process | undefined {
    const [freest] = processes.toSorted((a, b) => a.slots - b.slots);
    if (freest !== undefined && (freest.slots === 0 || processes.length === processesMax)) {
      return freest.slots < slotsPerProcess ? freest : undefined;
    }
    const started = { process: startWorkerProcess<Task, Outcome>(file, removeExited), slots: 0 };
    processes.push(started);
    return started;
  }

  function removeExited(): void {
    processes = processes.filter(({ process }) => process.isAlive());
    startWaiting();
  }

  function release(lane: LaneState<Process>, process: Process): void {
    lane.running -= 1;
    process.slots -= 1;
    startWaiting();
    if (idleMs !== undefined && processes.every(({ slots }) => slots === 0)) {
      clearTimeout(idleTimer);
      idleTimer = setTimeout(close, idleMs).unref();
    }
  }

  function close(): void {
    for (const { process } of processes.filter(({ slots }) => slots === 0)) {
      process.kill();
    }
    processes = processes.filter(({ slots }) => slots > 0);
  }

  async function runTask(process: WorkerProcess<Task, Outcome>, task: Task): Promise<Outcome> {
    if (taskTimeoutMs === undefined) {
      return process.run(task);
    }
    let hasTimedOut = false;
    const timer = setTimeout(() => {
      hasTimedOut = true;
      process.kill();
    }, taskTimeoutMs);
    try {
      return await process.run(task);
    } catch (error) {
      throw hasTimedOut && error instanceof WorkerExited
        ? new TaskTimedOut(`The task took longer than ${taskTimeoutMs} ms.`)
        : error;
    } finally {
      clearTimeout(timer);
    }
  }

  function stats(): { running: number; waiting: number } {
    return {
      running: lanes.reduce((sum, { running }) => sum + running, 0),
      waiting: lanes.reduce((sum, { waiting }) => sum + waiting.length, 0),
    };
  }

  function acquireAll(name: Lane, howMany: number): Promise<WorkerSlot<Task, Outcome>>[] {
    const lane = lanes.find((one) => one.name === name) as LaneState<Process>;
    const isFree = lane.running < lane.concurrency && stats().running < processesMax * slotsPerProcess;
    if (!isFree && lane.waiting.length + howMany > lane.queueMax) {
      throw new QueueFull(`${lane.waiting.length} tasks wait already.`);
    }
    return Array.from({ length: howMany }, async (): Promise<WorkerSlot<Task, Outcome>> => {
      const process = await new Promise<Process>((start) => {
        lane.waiting.push(start);
        startWaiting();
      });
      return {
        run: (task) => runTask(process.process, task),
        [Symbol.dispose]: () => release(lane, process),
      };
    });
  }

  return {
    acquire: async (lane) => acquireAll(lane, 1)[0] as Promise<WorkerSlot<Task, Outcome>>,
    acquireAll,
    stats,
    close,
  };
}

import type { Loop, Loops } from './loops.ts';

/** A database that is down fails several runs a second: the log of an hour would fill a disk. */
const reportMs = 10_000;

interface Options {
  /** The loops of the process, which it joins. */
  readonly loops: Loops;
  readonly name: string;
  readonly everyMs: number;
  /** Ends soon after `isStopped` returns true. When it fails, the next run tries again. */
  readonly run: (isStopped: () => boolean) => Promise<unknown>;
  /** Reports the first of several failures for the same reason, and one every ten seconds. */
  readonly onError?: (error: unknown) => void;
}

/** The loop of all background work: it runs at an interval, and when it is woken. Two runs never overlap. */
export class RepeatedWork {
  readonly #loop: Loop;
  readonly #work: Options['run'];
  readonly #onError: NonNullable<Options['onError']>;
  #running: Promise<void> | null = null;
  /** Whether another run follows the one under way. */
  #isDue = false;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;
  /** The failure that was reported; null after a success. */
  #reported: { readonly reason: string; readonly at: number } | null = null;

  constructor({ loops, name, everyMs, run, onError = () => {} }: Options) {
    this.#loop = loops.add(name, everyMs);
    this.#work = run;
    this.#onError = onError;
  }

  /** The run that is under way, with those that follow it at once. */
  get running(): Promise<void> | null {
    return this.#running;
  }

  /** Whether `stop` was called. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Repeats the work from now on; the first run is after an interval. @param intervalMs from now on */
  start(intervalMs = this.#loop.everyMs): void {
    clearInterval(this.#timer);
    this.#timer = this.#isStopped ? undefined : setInterval(() => void this.#begin(), intervalMs).unref();
  }

  /** Does the work now, or once more after the run that is under way. Ignored after `stop`. */
  wake(): void {
    if (!this.#isStopped) {
      void this.run();
    }
  }

  /** Does the work now, or once more after the run that is under way, and waits for it. */
  run(): Promise<void> {
    this.#isDue = true;
    return this.#begin();
  }

  /** Repeats the work no more until `start`. */
  pause(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Ends after the step that is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#isDue = false;
    this.pause();
    await this.#running;
  }

  #begin(): Promise<void> {
    this.#running ??= this.#repeat();
    return this.#running;
  }

  async #repeat(): Promise<void> {
    do {
      this.#isDue = false;
      await this.#loop
        .measure(() => this.#work(() => this.#isStopped))
        .then(
          () => {
            this.#reported = null;
          },
          (error) => this.#report(error),
        );
    } while (this.#isDue);
    this.#running = null;
  }

  #report(error: unknown): void {
    const [reason, at] = [String(error), performance.now()];
    if (this.#reported?.reason !== reason || at - this.#reported.at >= reportMs) {
      this.#reported = { reason, at };
      this.#onError(error);
    }
  }
}

/**
 * The loops of a process, by name: when each ran last, for how long, and how often it failed. Operators see them in the
 * status, the metrics and the console.
 */
import type { Clock } from '../clock.ts';

export class Loop {
  readonly name: string;
  /** Most time from one run to the next. */
  readonly everyMs: number;
  /** Runs that failed. */
  failures = 0;
  /** Whether the last run failed. */
  isFailing = false;
  /** When the last run ended; null before. */
  lastRunAt: number | null = null;
  lastRunMs: number | null = null;
  readonly #now: Clock['now'];

  constructor(name: string, everyMs: number, now: Clock['now']) {
    this.name = name;
    this.everyMs = everyMs;
    this.#now = now;
  }

  /** Does one run, and notes how it went. */
  async measure<Result>(run: () => Promise<Result>): Promise<Result> {
    const startedAt = performance.now();
    try {
      const result = await run();
      this.isFailing = false;
      return result;
    } catch (error) {
      this.isFailing = true;
      this.failures += 1;
      throw error;
    } finally {
      this.lastRunAt = this.#now();
      this.lastRunMs = performance.now() - startedAt;
    }
  }
}

export class Loops {
  readonly #now: Clock['now'];
  readonly #loops: Loop[] = [];

  /** @param clock of the machine: that of a test shop can be moved */
  constructor({ now }: Pick<Clock, 'now'>) {
    this.#now = now;
  }

  /** @param name differs from those of the other loops of the process */
  add(name: string, everyMs: number): Loop {
    const loop = new Loop(name, everyMs, this.#now);
    this.#loops.push(loop);
    return loop;
  }

  /** All loops, by name. */
  list(): Loop[] {
    return this.#loops.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }
}

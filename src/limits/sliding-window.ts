/** How often something happened lately. */

const slotMax = 65_535;

/**
 * Counts within the last `windowMs`, in slots of `slotMs`. A slot counts until all of it has left the window: so never
 * more than was permitted falls into any window of that length, wherever it begins, and who comes evenly gets all but
 * one slot's worth. With slots of a millisecond, the clock's own, it is exact. A slot holds at most 65,535.
 */
export class SlidingWindow {
  readonly #slotMs: number;
  readonly #counts: Uint16Array;
  #newest = 0;
  #sum = 0;

  constructor(windowMs: number, slotMs: number) {
    this.#slotMs = slotMs;
    this.#counts = new Uint16Array(windowMs / slotMs + (slotMs > 1 ? 1 : 0));
  }

  /**
   * What counts at `now`, in milliseconds. Where the clock is put back, time stands still; where it was ahead by more
   * than the window, everything is dropped.
   */
  count(now: number): number {
    const slot = Math.floor(now / this.#slotMs);
    if (Math.abs(slot - this.#newest) >= this.#counts.length) {
      this.#counts.fill(0);
      this.#sum = 0;
      this.#newest = slot;
    }
    while (this.#newest < slot) {
      this.#newest += 1;
      this.#sum -= this.#at(this.#newest);
      this.#set(this.#newest, 0);
    }
    return this.#sum;
  }

  /** Something happens at `now`, once or several times. Returns its slot, by which it can be taken back. */
  add(now: number, times = 1): number {
    this.count(now);
    const added = Math.min(times, slotMax - this.#at(this.#newest));
    this.#set(this.#newest, this.#at(this.#newest) + added);
    this.#sum += added;
    return this.#newest;
  }

  /** It did not count after all. */
  refund(slot: number): void {
    if (Math.abs(slot - this.#newest) < this.#counts.length && slot <= this.#newest && this.#at(slot) > 0) {
      this.#set(slot, this.#at(slot) - 1);
      this.#sum -= 1;
    }
  }

  /** Milliseconds from `now` until the oldest of what counts leaves the window; 0 where nothing counts. */
  msUntilFree(now: number): number {
    return this.untilAtMost(Math.max(0, this.count(now) - 1), now);
  }

  /** Milliseconds from `now` until no more than `limit` count; 0 where that is so. */
  untilAtMost(limit: number, now: number): number {
    let counting = this.count(now);
    if (counting <= limit) {
      return 0;
    }
    let slot = this.#newest - this.#counts.length;
    while (counting > limit) {
      slot += 1;
      counting -= this.#at(slot);
    }
    return (slot + this.#counts.length) * this.#slotMs - now;
  }

  #at(slot: number): number {
    return this.#counts[slot % this.#counts.length] as number;
  }

  #set(slot: number, count: number): void {
    this.#counts[slot % this.#counts.length] = count;
  }
}

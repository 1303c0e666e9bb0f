/** Counts within a sliding time window. */

const slotMax = 65_535;

/**
 * Counts within the last `windowMs`, in slots of `slotMs`. A slot counts until all of it has left the window, so no
 * window of that length ever contains more than the limit, wherever it starts. A caller with an even rate gets the
 * limit less one slot. With slots of a millisecond, the resolution of the clock, the count is exact. A slot counts to
 * 65,535.
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
   * The count at `now`, in milliseconds. If the clock is set back by less than the window, the window does not move; if
   * it is set back by more, all counts are dropped.
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

  /** Counts one or several at `now`. Returns the slot, for `refund`. */
  add(now: number, times = 1): number {
    this.count(now);
    const added = Math.min(times, slotMax - this.#at(this.#newest));
    this.#set(this.#newest, this.#at(this.#newest) + added);
    this.#sum += added;
    return this.#newest;
  }

  /** Takes one off the count of a slot. */
  refund(slot: number): void {
    if (Math.abs(slot - this.#newest) < this.#counts.length && slot <= this.#newest && this.#at(slot) > 0) {
      this.#set(slot, this.#at(slot) - 1);
      this.#sum -= 1;
    }
  }

  /** Milliseconds from `now` until the oldest count leaves the window; 0 if there is none. */
  msUntilFree(now: number): number {
    return this.untilAtMost(Math.max(0, this.count(now) - 1), now);
  }

  /** Milliseconds from `now` until the count is at most `limit`; 0 if it is already. */
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

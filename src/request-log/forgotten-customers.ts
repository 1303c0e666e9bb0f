/** Customers who were deleted a moment ago, of whose requests nothing may be kept. */

/** Another server can write requests of a deleted customer for so long. */
const forgetMs = 10_000;

export class ForgottenCustomers {
  /** The time until which requests of a customer are deleted again, by performance.now(). */
  readonly #until = new Map<number, number>();

  /** Called when the deletion of the customer was committed. */
  add(customerId: number): void {
    this.#until.set(customerId, performance.now() + forgetMs);
  }

  has(customerId: number | null): boolean {
    return customerId !== null && this.#until.has(customerId);
  }

  /** All of them. Those whose time is over are listed for the last time. */
  list(): number[] {
    const all = [...this.#until.keys()];
    const now = performance.now();
    for (const [id, until] of this.#until) {
      if (now >= until) {
        this.#until.delete(id);
      }
    }
    return all;
  }
}

/**
 * A value or a promise of one. Each `await` passes through the microtask queue, even without anything to wait for, which
 * is the usual case on SQLite: ten of them cost as much as parsing and writing the headers of a request.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with the value: immediately, or when its promise resolves. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

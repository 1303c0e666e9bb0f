/**
 * What may be there already. Each `await` sends a request once round the queue of microtasks: ten of them cost as
 * much as reading and writing its headers, and on SQLite mostly nothing was to be waited for.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a value: at once where it is there, else when it has come. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

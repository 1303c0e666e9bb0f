/** Steps in a fixed order: the form of the request pipeline. */
import type { MaybePromise } from '../../maybe-promise.ts';
import type { Route } from '../route.ts';

export interface Step<T> {
  readonly name: string;
  /** Decided once, when a route is registered. A step without it belongs to every route. */
  readonly appliesTo?: (route: Route) => boolean;
  /** Throws to refuse the request. */
  readonly run: (subject: T) => MaybePromise<void>;
}

type Run<T> = Step<T>['run'];

/** The functions of the steps that a route has. */
export function stepsOf<T>(steps: readonly Step<T>[], route: Route): readonly Run<T>[] {
  return steps.filter(({ appliesTo }) => appliesTo?.(route) ?? true).map(({ run }) => run);
}

/** Runs one step after the other, and waits only for a step that returns a promise. */
export function runSteps<T>(steps: readonly Run<T>[], subject: T, start = 0): MaybePromise<void> {
  for (let index = start; index < steps.length; index += 1) {
    const pending = (steps[index] as Run<T>)(subject);
    if (pending instanceof Promise) {
      return index + 1 === steps.length ? pending : pending.then(() => runSteps(steps, subject, index + 1));
    }
  }
}

/**
 * Hooks: what an area does when another area changes or deletes something, in the transaction of that change. The area
 * that makes the change defines a hook point and runs its hooks, and knows none of the areas that have them.
 */
import type { Context } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { lockOrder } from '../database/lock-order.ts';

/** A change that can have hooks. Each is one object, which is compared by its identity. */
export interface HookPoint<Subject> {
  readonly name: string;
  /** Never set: it has the type of what hooks receive. */
  readonly subject?: Subject;
}

type Run<Subject> = (tx: Sql, context: Context, subject: Subject) => Promise<unknown>;
type Committed<Subject> = (subject: Subject) => void;

export interface Hook {
  readonly point: HookPoint<unknown>;
  readonly firstLock: (typeof lockOrder)[number];
  readonly run: Run<never>;
  readonly committed: Committed<never> | undefined;
}

/**
 * @param firstLock the first rows that `run` locks or changes
 * @param run may throw to refuse the change
 * @param committed called after the commit; not in a dry run
 */
export function hookOn<Subject>(
  point: HookPoint<Subject>,
  firstLock: Hook['firstLock'],
  run: Run<Subject>,
  committed?: Committed<Subject>,
): Hook {
  return { point, firstLock, run, committed };
}

/** The hooks of all areas of a shop. */
export class Hooks {
  #hooks: readonly Hook[] = [];

  /** Called once, when all areas are open. */
  register(hooks: readonly Hook[]): void {
    const rankOf = ({ firstLock }: Hook) => lockOrder.indexOf(firstLock);
    this.#hooks = hooks.toSorted((a, b) => rankOf(a) - rankOf(b));
  }

  /** Runs the hooks one after the other, in the lock order. */
  async run<Subject>(point: HookPoint<Subject>, tx: Sql, context: Context, subject: Subject): Promise<void> {
    for (const hook of this.#hooks) {
      if (hook.point === point) {
        await hook.run(tx, context, subject as never);
      }
    }
  }

  /** Called by the area that made the change, after the commit. */
  committed<Subject>(point: HookPoint<Subject>, { origin }: Context, subject: Subject): void {
    if (origin.effects !== null) {
      return;
    }
    for (const hook of this.#hooks) {
      if (hook.point === point) {
        hook.committed?.(subject as never);
      }
    }
  }
}

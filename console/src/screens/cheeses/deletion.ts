/** What the deletion of cheeses would do, by dry runs. */
import type { Cheese, Curd } from '../../../../client/src/index.ts';
import { readEffects } from '../../parts/action.ts';
import type { Effects } from '../../parts/dialogs/confirm.tsx';

/** @throws CurdError if no deletion is possible; the summary of the real run names those that fail among others */
export async function readDeletionEffects(
  curd: Curd,
  cheeses: readonly Pick<Cheese, 'id'>[],
): Promise<Effects> {
  const results = await Promise.allSettled(
    cheeses.map(({ id }) => readEffects((options) => curd.cheeses.delete(id, options))),
  );
  const found = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const [failure] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (found.length === 0 && failure !== undefined) {
    throw failure;
  }
  return {
    effects: found.flatMap(({ effects }) => effects),
    more: found.reduce((sum, { more }) => sum + more, 0),
  };
}

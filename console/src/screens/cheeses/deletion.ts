/** What the deletion of cheeses would do, by dry runs. */
import type { Cheese, Curd } from '../../../../client/src/index.ts';
import type { Effect } from '../../parts/confirm.tsx';

export interface Effects {
  readonly effects: readonly Effect[];
  readonly more: number;
}

/** @throws CurdError where no deletion is possible; the summary of the real run names those that fail among others */
export async function readDeletionEffects(
  curd: Curd,
  cheeses: readonly Pick<Cheese, 'id'>[],
): Promise<Effects> {
  const results = await Promise.allSettled(
    cheeses.map(async ({ id }) => {
      // With this header the response is not empty.
      const response: unknown = await curd.cheeses.delete(id, { headers: { 'Dry-Run': 'effects' } });
      return response as Effects | undefined;
    }),
  );
  const found = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const [failure] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (found.length === 0 && failure !== undefined) {
    throw failure;
  }
  return {
    effects: found.flatMap((one) => one?.effects ?? []),
    more: found.reduce((sum, one) => sum + (one?.more ?? 0), 0),
  };
}

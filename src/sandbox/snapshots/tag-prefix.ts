/**
 * The prefix of all ETags of a shop that was restored. Ids return with a restore, and versions begin at 1: without it, an
 * ETag of a row from before could be that of another row with the same id.
 */
import type { Database } from '../../database/database.ts';
import { createLookup } from '../../database/lookup.ts';
import { chain, type MaybePromise } from '../../maybe-promise.ts';
import { restoresLookup } from './queries.ts';

/** How long another instance on PostgreSQL keeps the prefix of before. Restored rows have other versions at once. */
const freshMs = 1000;

interface RestoresRow {
  readonly id: number;
  readonly restores: number;
}

export type TagPrefix = ReturnType<typeof createTagPrefix>;

export function createTagPrefix(database: Database) {
  const lookUp = createLookup<RestoresRow>(database, {
    one: () => restoresLookup,
    many: () => restoresLookup,
    keyOf: () => '',
  });
  const isCheap = database.dataVersion() !== null;
  let known = '';
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    /** Empty for a shop that was never restored. */
    read(): MaybePromise<string> {
      if (!isCheap && performance.now() - readAt < freshMs) {
        return known;
      }
      return chain(lookUp(''), (row) => {
        known = row === undefined || row.restores === 0 ? '' : `r${row.restores}.`;
        readAt = performance.now();
        return known;
      });
    },
    /** Called after a restore by this process. */
    forget() {
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}

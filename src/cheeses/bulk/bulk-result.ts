/** What the response to a bulk change says. */
import { AppError } from '../../errors.ts';
import { measureJson } from '../../schema/json-bounds.ts';
import type { CheeseUpdated } from '../drafts.ts';
import { type BulkChange, type BulkInput, type ShownUpdate, shownBytesMax } from './schemas.ts';

/** The update without values that would make the response many times larger than the request. */
export function shownUpdate({ changes, ...rest }: CheeseUpdated): ShownUpdate {
  const isShown = ([, change]: readonly [string, unknown]) =>
    Buffer.byteLength(JSON.stringify(change)) <= shownBytesMax;
  const [shown, hidden] = [true, false].map((wanted) =>
    Object.entries(changes).filter((entry) => isShown(entry) === wanted),
  );
  const update = { ...rest, changes: Object.fromEntries(shown ?? []) as CheeseUpdated['changes'] };
  return hidden === undefined || hidden.length === 0
    ? update
    : { ...update, omitted: hidden.map(([name]) => name) };
}

type Values = Omit<BulkChange, 'cheeseIds'>;
/** The type of a schema does not have the null of the category. */
type OldValues = Omit<Values, 'category'> & { readonly category?: { readonly name: string } | null };

/** Bytes. A body has at most a megabyte. */
const undoMax = 900_000;

/**
 * The bulk change that restores the old values. Cheeses with the same old values are in one change. Null if nothing was changed.
 * @throws AppError validation if the old values are more than a body can have
 */
export function toUndo(updated: readonly CheeseUpdated[]): BulkInput | null {
  const groups = new Map<string, number[]>();
  for (const { id, changes } of updated) {
    const key = JSON.stringify(oldValues(changes));
    const ids = groups.get(key) ?? [];
    ids.push(id);
    groups.set(key, ids);
  }
  const bytes = [...groups.keys()].reduce((sum, key) => sum + Buffer.byteLength(key), 0);
  const changes = [...groups].map(([key, cheeseIds]) => ({ cheeseIds, ...(JSON.parse(key) as Values) }));
  if (bytes > undoMax || measureJson(JSON.stringify({ changes })).excess !== null) {
    throw new AppError(
      'validation',
      'The old tags and portions of these cheeses are more than a request can have, so that they could not be restored. Change fewer cheeses at once.',
      {
        errors: [
          { field: 'changes', message: 'have too many tags or portions: change fewer cheeses at once' },
        ],
      },
    );
  }
  return changes.length === 0 ? null : { changes };
}

function oldValues({ pricePerKg, status, portions, category, tags }: CheeseUpdated['changes']): OldValues {
  return {
    ...(pricePerKg === undefined ? {} : { price: { set: pricePerKg.from } }),
    ...(status === undefined ? {} : { status: status.from }),
    ...(portions === undefined ? {} : { portions: [...(portions.from ?? [])] }),
    ...(category === undefined ? {} : { category: category.from === null ? null : { name: category.from } }),
    ...(tags === undefined ? {} : { tags: [...(tags.from ?? [])] }),
  };
}

/** Changes many cheeses in one transaction, with one version of the catalogue. */
import { requireWithin } from '../../access/confinement.ts';
import { forEachBlock } from '../../blocks.ts';
import type { Context } from '../../database/context.ts';
import type { Database, Sql } from '../../database/database.ts';
import { addError, type FieldError, requireNoErrors, validationError } from '../../errors.ts';
import { nameKey } from '../../schema/folding.ts';
import { cheeseToDraft, type Draft, distinctNames, throwConflict } from '../drafts.ts';
import { checkPortions } from '../portions.ts';
import { type CatalogueRow, cheeseQueries } from '../queries.ts';
import { type Cheese, parseCheese } from '../schemas.ts';
import { type CheeseWrites, notFound } from '../writes.ts';
import { shownUpdate, toUndo } from './bulk-result.ts';
import { changeByAmount, changeByPercent } from './price-change.ts';
import { type BulkChange, type BulkInput, type BulkResult, bulkBytesMax, bulkCheesesMax } from './schemas.ts';

/** Cheeses between which other requests are processed: about 10 ms on SQLite. Large ones are in smaller blocks. */
const blockSize = 50;
const blockBytes = 100_000;
const priceMax = 1_000_000;

/** A change of one cheese. */
interface PlannedChange {
  readonly change: BulkChange;
  /** The place of the change in the request. */
  readonly at: string;
  /** undefined if the category stays. */
  readonly category: string | null | undefined;
}

export type BulkChanges = ReturnType<typeof createBulkChanges>;

export function createBulkChanges(database: Database, writes: CheeseWrites) {
  /** Categories by id are replaced by their names. @throws AppError validation */
  async function plan({ changes }: BulkInput): Promise<Map<number, PlannedChange>> {
    const ids = changes.flatMap(({ category }) => category?.id ?? []).filter(Number.isSafeInteger);
    const terms = ids.length === 0 ? [] : await cheeseQueries(database).findTermsById(ids);
    const names = new Map(terms.filter(({ kind }) => kind === 'category').map(({ id, name }) => [id, name]));
    const planned = new Map<number, PlannedChange>();
    const errors: FieldError[] = [];
    for (const [index, change] of changes.entries()) {
      const at = `changes[${index}]`;
      const category = change.category && (change.category.name ?? names.get(change.category.id ?? 0));
      if (change.category && category === undefined) {
        errors.push({ field: `${at}.category.id`, message: 'there is no category with this id' });
      }
      for (const id of change.cheeseIds) {
        planned.set(id, { change, at, category });
      }
    }
    requireNoErrors(errors);
    return planned;
  }

  /** Writes the cheeses of a block that differ. Its locks are in the order of ids. */
  async function writeBlock(
    tx: Sql,
    context: Context,
    ids: readonly number[],
    planned: ReadonlyMap<number, PlannedChange>,
    nextVersion: () => Promise<CatalogueRow>,
  ) {
    const rows = await cheeseQueries(tx).lockAllForUpdate(ids);
    const missing = ids.find((id) => !rows.some((row) => row.id === id));
    if (missing !== undefined) {
      throw notFound(missing);
    }
    const errors: FieldError[] = [];
    const changes = rows.map((row) => {
      const before = parseCheese(row.body);
      requireWithin(context.origin.limits, before);
      return { row, before, draft: applyChange(before, planned.get(row.id) as PlannedChange, errors) };
    });
    requireNoErrors(errors);
    return writes.updateRows(tx, context, changes, nextVersion);
  }

  return {
    /**
     * Changes all cheeses or none.
     * @throws AppError validation, notFound, conflict when a name exists in the new category, forbidden for a restricted key
     * that is confined to other cheeses
     */
    async apply(context: Context, input: BulkInput): Promise<BulkResult> {
      requireValid(input);
      const planned = await plan(input);
      const ids = [...planned.keys()].sort((a, b) => a - b);
      const unsafe = ids.find((id) => !Number.isSafeInteger(id));
      if (unsafe !== undefined) {
        throw notFound(unsafe);
      }
      return throwConflict(() =>
        context.transaction(async (tx) => {
          await cheeseQueries(tx).lockCatalogue();
          const bytes = requireSize(input, await cheeseQueries(tx).sizeOf(ids));
          const size = Math.max(1, Math.min(blockSize, Math.floor((blockBytes / bytes) * ids.length)));
          let version: Promise<CatalogueRow> | undefined;
          const nextVersion = () => {
            version ??= writes.newVersion(tx);
            return version;
          };
          const written: Awaited<ReturnType<typeof writeBlock>> = [];
          await forEachBlock(ids, size, async (block) => {
            written.push(...(await writeBlock(tx, context, block, planned, nextVersion)));
          });
          await forEachBlock(written, size, (block) => writes.recordUpdates(tx, context, block));
          const byId = new Map(written.map(({ event }) => [event.id, event]));
          const items = [...planned.keys()].flatMap((id) => byId.get(id) ?? []);
          return {
            items: items.map(shownUpdate),
            unchanged: ids.length - items.length,
            undo: toUndo(items),
          };
        }),
      );
    },
  };
}

function applyChange(before: Cheese, { change, at, category }: PlannedChange, errors: FieldError[]): Draft {
  const { pricePerKg: _, portions: known, ...draft } = cheeseToDraft(before);
  const { status = draft.status, portions = known, tags, addTags = [], removeTags = [] } = change;
  const removed = new Set(removeTags.map(nameKey));
  const kept = (tags ?? draft.tags).filter((tag) => !removed.has(nameKey(tag)));
  const tagNames = distinctNames([...kept, ...addTags]);
  if (tagNames.length > 100) {
    errors.push({ field: `${at}.addTags`, message: `${before.name} would have more than 100 tags` });
  }
  const price = priceOf(before.pricePerKg, change.price);
  if (price !== undefined && (price < 0 || price > priceMax)) {
    const field = `${at}.price.${change.price?.percent === undefined ? 'amount' : 'percent'}`;
    errors.push({
      field,
      message: `the price of ${before.name} would be ${price}: it must be 0 to ${priceMax}`,
    });
  }
  return {
    ...draft,
    ...(price === undefined ? {} : { pricePerKg: price }),
    ...(portions?.length ? { portions } : {}),
    status,
    category: category === undefined ? draft.category : category,
    tags: tagNames,
  };
}

/** undefined: no price. */
function priceOf(price: number | undefined, change: BulkChange['price']): number | undefined {
  if (change === undefined) {
    return price;
  }
  const { set, percent, amount, rounding = '0.01' } = change;
  if (set !== undefined) {
    return set ?? undefined;
  }
  if (price === undefined) {
    return undefined;
  }
  return percent === undefined
    ? changeByAmount(price, amount ?? 0, rounding)
    : changeByPercent(price, percent, rounding);
}

/**
 * Checked before the cheeses are read. New values are written to each of their cheeses.
 * @param stored bytes of the cheeses
 * @returns bytes of the changed cheeses at most
 * @throws AppError validation
 */
function requireSize({ changes }: BulkInput, stored: number): number {
  const added = changes.map(
    ({ cheeseIds, tags = [], addTags = [], portions = [] }) =>
      cheeseIds.length * Buffer.byteLength(JSON.stringify([tags, addTags, portions])),
  );
  const bytes = added.reduce((sum, one) => sum + one, stored);
  if (bytes > bulkBytesMax) {
    const megabytes = (count: number) => Math.ceil(count / 100_000) / 10;
    throw validationError([
      {
        field: 'changes',
        message: `would write ${megabytes(bytes)} MB, and ${megabytes(bulkBytesMax)} MB are permitted: change fewer cheeses at once`,
      },
    ]);
  }
  return bytes;
}

const exclusive = ['set', 'percent', 'amount'] as const;

/** What the schema cannot check. @throws AppError validation */
function requireValid({ changes }: BulkInput): void {
  const errors: FieldError[] = [];
  const known = new Set<number>();
  let cheeses = 0;
  for (const [index, change] of changes.entries()) {
    const at = `changes[${index}]`;
    cheeses += change.cheeseIds.length;
    for (const [position, id] of change.cheeseIds.entries()) {
      if (known.has(id)) {
        addError(errors, `${at}.cheeseIds[${position}]`, 'is in the request already');
      }
      known.add(id);
    }
    checkChange(errors, at, change);
  }
  if (cheeses > bulkCheesesMax) {
    addError(errors, 'changes', `must have ${bulkCheesesMax} cheeses together at most, and has ${cheeses}`);
  }
  requireNoErrors(errors);
}

function checkChange(errors: FieldError[], at: string, { cheeseIds: _, ...change }: BulkChange): void {
  const { price, portions, tags, addTags, removeTags } = change;
  checkPortions(errors, `${at}.portions`, portions ?? []);
  if (Object.keys(change).length === 0) {
    addError(
      errors,
      at,
      'changes nothing: add price, status, portions, category, tags, addTags or removeTags',
    );
  }
  if (price !== undefined && exclusive.filter((name) => price[name] !== undefined).length !== 1) {
    addError(errors, `${at}.price`, 'must have one of set, percent and amount');
  }
  if (price?.set !== undefined && price.rounding !== undefined) {
    addError(errors, `${at}.price.rounding`, 'is for percent and amount: set is not rounded');
  }
  if (tags !== undefined && (addTags !== undefined || removeTags !== undefined)) {
    addError(errors, `${at}.tags`, 'cannot be sent together with addTags and removeTags');
  }
}

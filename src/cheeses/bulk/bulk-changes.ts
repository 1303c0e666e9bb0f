/** Changes many cheeses in one transaction, with one version of the catalogue. */
import { requireWithin } from '../../access/confinement.ts';
import { forEachBlock } from '../../blocks.ts';
import { type Clock, timestamp } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import type { Database, Sql } from '../../database/database.ts';
import { type FieldError, validationError } from '../../errors.ts';
import type { EventData } from '../../event-log/define.ts';
import { recordEvents } from '../../event-log/record.ts';
import { cheeseToDraft, type Draft, termsOf, throwConflict, toCheese } from '../drafts.ts';
import { cheeseEvents } from '../event-types.ts';
import { recordPriceChange } from '../prices/record.ts';
import { type CatalogueRow, cheeseQueries } from '../queries.ts';
import { type Cheese, parseCheese } from '../schemas.ts';
import type { CheeseDependencies } from '../service.ts';
import { TermIds } from '../terms.ts';
import { cheeseUpdated } from '../update-event.ts';
import { notFound, toRow } from '../writes.ts';
import { changeByAmount, changeByPercent } from './price-change.ts';
import type { BulkChange, BulkInput, BulkResult } from './schemas.ts';
import { undoOf } from './undo.ts';
import { requireValid } from './validation.ts';

/** Cheeses between which other requests are processed: about 10 ms on SQLite. */
const blockSize = 50;
const priceMax = 1_000_000;

export interface BulkChanges {
  /**
   * Changes all cheeses or none.
   * @throws AppError validation, notFound, conflict when a name exists in the new category, forbidden for a restricted key
   * that is confined to other cheeses
   */
  apply(context: Context, input: BulkInput): Promise<BulkResult>;
}

interface Dependencies extends Pick<CheeseDependencies, 'onStatusChange'> {
  readonly database: Database;
  readonly clock: Pick<Clock, 'now'>;
}

/** A change of one cheese. */
interface Planned {
  readonly change: BulkChange;
  /** Where the request has the change. */
  readonly at: string;
  /** undefined where the category stays. */
  readonly categoryName: string | null | undefined;
}

type Updated = EventData<typeof cheeseEvents.updated>;

interface Written {
  readonly event: Updated;
  readonly cheese: Cheese;
  readonly version: number;
}

export function createBulkChanges({ database, clock, onStatusChange }: Dependencies): BulkChanges {
  /** Categories by id are replaced by their names. @throws AppError validation */
  async function plan({ changes }: BulkInput): Promise<Map<number, Planned>> {
    const ids = changes.flatMap(({ category }) => category?.id ?? []).filter(Number.isSafeInteger);
    const terms = ids.length === 0 ? [] : await cheeseQueries(database).findTermsById(ids);
    const names = new Map(terms.filter(({ kind }) => kind === 'category').map(({ id, name }) => [id, name]));
    const planned = new Map<number, Planned>();
    const errors: FieldError[] = [];
    for (const [index, change] of changes.entries()) {
      const { category } = change;
      const at = `changes[${index}]`;
      const categoryName = category && (category.name ?? names.get(category.id ?? 0));
      if (category && categoryName === undefined) {
        errors.push({ field: `${at}.category.id`, message: 'there is no category with this id' });
      }
      for (const id of change.cheeseIds) {
        planned.set(id, { change, at, categoryName });
      }
    }
    if (errors.length > 0) {
      throw validationError(errors);
    }
    return planned;
  }

  /** Writes the cheeses of a block that differ. Its locks are in the order of ids. */
  async function writeBlock(
    tx: Sql,
    { origin: { limits } }: Context,
    ids: readonly number[],
    planned: ReadonlyMap<number, Planned>,
    catalogue: () => Promise<CatalogueRow>,
  ): Promise<Written[]> {
    const queries = cheeseQueries(tx);
    const rows = await queries.lockAllForUpdate(ids);
    const missing = ids.find((id) => !rows.some((row) => row.id === id));
    if (missing !== undefined) {
      throw notFound(missing);
    }
    const errors: FieldError[] = [];
    const drafts = rows.map((row) => {
      const before = parseCheese(row.body);
      requireWithin(limits, before);
      return { row, before, draft: applyChange(before, planned.get(row.id) as Planned, errors) };
    });
    if (errors.length > 0) {
      throw validationError(errors);
    }
    const terms = drafts.flatMap(({ draft }) => termsOf(draft));
    const termIds = new TermIds();
    await termIds.find(tx, terms);
    await termIds.create(tx, terms);
    const differing = drafts.filter(({ row, before, draft }) => {
      return JSON.stringify(toCheese(draft, termIds.of, before)) !== row.body;
    });
    if (differing.length === 0) {
      return [];
    }
    const { version: changedIn, last_written_at: updatedAt } = await catalogue();
    return Promise.all(
      differing.map(async ({ row, before, draft }) => {
        const { id, createdAt } = before;
        const cheese = toCheese(draft, termIds.of, { id, createdAt, updatedAt });
        requireWithin(limits, cheese);
        const version = row.version + 1;
        await queries.update(toRow(cheese, version, changedIn));
        return { event: cheeseUpdated(before, cheese), cheese, version };
      }),
    );
  }

  /** Stock is locked after all cheeses, by the lock order. */
  async function recordBlock(tx: Sql, { origin }: Context, written: readonly Written[]): Promise<void> {
    await Promise.all(
      written.map(async ({ event, cheese, version }) => {
        if (event.changes.pricePerKg !== undefined) {
          await recordPriceChange(tx, cheese, version);
        }
        if (event.changes.status !== undefined) {
          await onStatusChange(tx, cheese.id);
        }
      }),
    );
    const events = written.map(({ event }) => cheeseEvents.updated.of(`cheese:${event.id}`, event));
    await recordEvents(tx, origin, written[0]?.cheese.updatedAt ?? '', events);
  }

  return {
    async apply(context, input) {
      requireValid(input);
      const planned = await plan(input);
      const ids = [...planned.keys()].sort((a, b) => a - b);
      const unsafe = ids.find((id) => !Number.isSafeInteger(id));
      if (unsafe !== undefined) {
        throw notFound(unsafe);
      }
      return throwConflict(() =>
        context.transaction(async (tx) => {
          const queries = cheeseQueries(tx);
          await queries.lockCatalogue();
          let version: Promise<CatalogueRow> | undefined;
          const catalogue = () => {
            version ??= queries.updateCatalogue(timestamp(clock.now()), 0);
            return version;
          };
          const written: Written[] = [];
          await forEachBlock(ids, blockSize, async (block) => {
            written.push(...(await writeBlock(tx, context, block, planned, catalogue)));
          });
          await forEachBlock(written, blockSize, (block) => recordBlock(tx, context, block));
          const byId = new Map(written.map(({ event }) => [event.id, event]));
          const items = [...planned.keys()].flatMap((id) => byId.get(id) ?? []);
          return {
            items,
            unchanged: ids.length - items.length,
            undo: undoOf(items),
          };
        }),
      );
    },
  };
}

function applyChange(before: Cheese, { change, at, categoryName }: Planned, errors: FieldError[]): Draft {
  const { pricePerKg: _, ...draft } = cheeseToDraft(before);
  const { status = draft.status, tags, addTags = [], removeTags = [] } = change;
  const kept = (tags ?? draft.tagNames).filter((tag) => !removeTags.includes(tag));
  const tagNames = [...new Set([...kept, ...addTags])];
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
    status,
    categoryName: categoryName === undefined ? draft.categoryName : categoryName,
    tagNames,
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

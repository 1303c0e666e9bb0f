/** Reads and writes single cheeses, with their terms and events. listing/ reads pages of them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { forEachBlock } from '../blocks.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { createLookup } from '../database/lookup.ts';
import { chain, type MaybePromise } from '../maybe-promise.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import {
  applyPatch,
  cheeseToDraft,
  type Draft,
  inputToDraft,
  patchToInput,
  throwConflict,
} from './drafts.ts';
import { type CheeseField, fieldsThatStay, type Status } from './fields.ts';
import {
  compareImport,
  type GivenFields,
  type ImportOutcome,
  type SeenCheeses,
} from './import-comparison.ts';
import { type CheeseRow, cheeseLookup, cheeseQueries } from './queries.ts';
import {
  type Cheese,
  type CheeseInput,
  type CheeseMergePatch,
  type CheesePatch,
  type CheeseReplacement,
  parseCheese,
} from './schemas.ts';
import { type CheeseWrites, notFound } from './writes.ts';

type PhotoChange = (photoUrls: readonly string[]) => string[];

/** Place in a group of changes: after those of stored cheeses, because a new one locks none of them. */
const newLast = Number.MAX_SAFE_INTEGER;

/** New cheeses of an import between which other requests are processed: about 10 ms. */
const insertedAtOnce = 50;

interface ImportPart {
  readonly givenFields?: GivenFields;
  /** New cheeses of earlier transactions of a preview, which were rolled back. */
  readonly previewed?: number;
  readonly afterImport?: (tx: Sql, outcomes: readonly ImportOutcome[]) => Promise<void>;
}

/** Operations in the transactions of other areas. */
const inTransactions = {
  /** Reads the cheese as committed now, in a transaction. It does not lock the cheese. */
  readIn: (tx: Sql, id: number) => cheeseQueries(tx).find(id),

  /** The categories of those of the cheeses that exist, by id; null for a cheese without one. */
  async listCategories(tx: Sql, ids: readonly number[]): Promise<ReadonlyMap<number, string | null>> {
    const rows = await cheeseQueries(tx).listCategories(ids);
    return new Map(rows.map(({ id, category }) => [id, category]));
  },

  /** The cheeses that exist, by id. They cannot change before the transaction ends. */
  async lockForShare(tx: Sql, ids: readonly number[]) {
    const rows = ids.length === 0 ? [] : await cheeseQueries(tx).lockForShare(ids);
    return new Map(rows.map((row) => [row.id, row]));
  },

  /** Reads what `lockForShare` returns, without a lock. */
  async readForOrder(sql: Sql, ids: readonly number[]) {
    const rows = ids.length === 0 ? [] : await cheeseQueries(sql).readForOrder(ids);
    return new Map(rows.map((row) => [row.id, row]));
  },

  /** Locks the catalogue until the end of the transaction: no other one changes it. Comes before the locks of cheeses. */
  lockCatalogue: (tx: Sql) => cheeseQueries(tx).lockCatalogue(),

  /**
   * Locks a cheese until the end of the transaction: no other transaction changes or orders it. Returns its status;
   * undefined when there is no such cheese.
   */
  async lock(tx: Sql, id: number): Promise<Status | undefined> {
    const row = await cheeseQueries(tx).lockForUpdate(id);
    return row === undefined ? undefined : parseCheese(row.body).status;
  },

  /**
   * The statuses of cheeses that no other transaction changes until the end of this one, which does not wait for them.
   * null: another transaction changes the cheese now. Cheeses that do not exist are missing.
   */
  async tryLockForShare(tx: Sql, ids: readonly number[]): Promise<Map<number, Status | null>> {
    const queries = cheeseQueries(tx);
    const locked = await queries.lockUnlocked(ids);
    const statuses = new Map<number, Status | null>(locked.map(({ id, status }) => [id, status]));
    const others = ids.filter((id) => !statuses.has(id));
    for (const { id } of others.length > 0 ? await queries.listStatuses(others) : []) {
      statuses.set(id, null);
    }
    return statuses;
  },

  /** Stores in the rows of cheeses whether their stock is tracked. The rows are locked. */
  setTracked: (tx: Sql, ids: readonly number[], isTracked: boolean) =>
    cheeseQueries(tx).updateTracked(ids, isTracked ? 1 : 0),
};

export type CheeseService = ReturnType<typeof createCheeseService>;

/** @param cheesesMax the number of cheeses that the catalogue may have */
export function createCheeseService(database: Database, writes: CheeseWrites, cheesesMax: number) {
  const lookup = createLookup<CheeseRow>(database, cheeseLookup);

  /** Changes a stored cheese. Other changes of the catalogue may share the transaction. */
  async function writeInGroup(
    context: Context,
    id: number,
    precondition: Precondition | undefined,
    change: (current: Cheese) => Draft,
    /** Other portions lock the stock too, so that no other cheese may be locked afterwards. */
    changesPortions = false,
  ): Promise<Versioned> {
    return throwConflict(() =>
      context.transaction(
        (tx) => writes.write(tx, context, id, precondition, change),
        changesPortions ? undefined : id,
      ),
    );
  }

  const patched = (patch: CheesePatch) => (current: Cheese) => cheeseToDraft({ ...current, ...patch });

  const withPhotos =
    (change: PhotoChange) =>
    (current: Cheese): Draft => ({ ...cheeseToDraft(current), photoUrls: change(current.photoUrls) });

  return {
    ...inTransactions,

    /** Returns no promise when the row is cached. @throws AppError notFound */
    find: (id: number): MaybePromise<Versioned> =>
      chain(lookup(String(id)), (row) => {
        if (row === undefined) {
          throw notFound(id);
        }
        return row;
      }),

    findIfThere: (id: number): MaybePromise<Versioned | undefined> => lookup(String(id)),

    async listNames(ids: readonly number[]) {
      const rows = await Promise.all(ids.map((id) => lookup(String(id))));
      return rows.flatMap((row) =>
        row === undefined ? [] : [{ id: row.id, name: parseCheese(row.body).name }],
      );
    },

    /** The names of the categories that cheeses have. */
    async listCategoryNames(): Promise<readonly string[]> {
      return (await cheeseQueries(database).listCategoryNames()).map(({ name }) => name);
    },

    /** The ids of the categories with these names. */
    async findCategoryIds(names: readonly string[]) {
      const rows = names.length === 0 ? [] : await cheeseQueries(database).findCategoryIds(names);
      return rows.map(({ id }) => id);
    },

    /** @throws AppError conflict when the name exists in the category */
    async create(context: Context, input: CheeseInput) {
      const draft = await inputToDraft(database, input);
      return throwConflict(() =>
        context.transaction(async (tx) => {
          const [created] = await writes.insert(tx, context, [draft]);
          return created as Versioned;
        }, newLast),
      );
    },

    /** @throws AppError notFound, preconditionFailed, conflict */
    async replace(context: Context, input: CheeseReplacement, precondition?: Precondition) {
      const draft = await inputToDraft(database, input);
      const kept = fieldsThatStay.filter((field) => input[field] === undefined);
      return writeInGroup(
        context,
        input.id,
        precondition,
        (current) => applyPatch(draft, kept, cheeseToDraft(current)),
        input.portions !== undefined,
      );
    },

    /** @throws AppError notFound, preconditionFailed, conflict */
    update: (context: Context, id: number, patch: CheesePatch, precondition?: Precondition) =>
      writeInGroup(context, id, precondition, patched(patch)),

    /** Works like `update`, in an open transaction. */
    updateIn: (tx: Sql, context: Context, id: number, patch: CheesePatch) =>
      writes.write(tx, context, id, undefined, patched(patch)),

    /** @throws AppError notFound, preconditionFailed, conflict, validation */
    async patch(context: Context, id: number, patch: CheeseMergePatch, precondition?: Precondition) {
      const values = await inputToDraft(database, patchToInput(patch));
      return writeInGroup(
        context,
        id,
        precondition,
        (current) => applyPatch(cheeseToDraft(current), Object.keys(patch) as CheeseField[], values),
        patch.portions !== undefined,
      );
    },

    /** @throws AppError notFound, preconditionFailed, and what `change` throws */
    changePhotos: (context: Context, id: number, change: PhotoChange, precondition?: Precondition) =>
      writeInGroup(context, id, precondition, withPhotos(change)),

    /** Works like `changePhotos`, in an open transaction. */
    changePhotosIn: (
      tx: Sql,
      context: Context,
      id: number,
      change: PhotoChange,
      precondition?: Precondition,
    ) => writes.write(tx, context, id, precondition, withPhotos(change)),

    /** @throws AppError notFound, preconditionFailed, and what hooks throw */
    delete: (context: Context, id: number, precondition?: Precondition) =>
      context.transaction((tx) => writes.deleteOne(tx, context, id, precondition)),

    /** Works like `delete`, in an open transaction. */
    deleteIn: writes.deleteOne,

    /** Cheeses with a higher id, in the order of ids. */
    listAfter: (id: number, limit: number): Promise<Versioned[]> =>
      cheeseQueries(database).listAfter(id, limit),

    /** The number of all cheeses. */
    count: () => cheeseQueries(database).countCheeses(),

    /**
     * Creates the cheeses that do not exist yet, in one transaction, and updates others by their `givenFields`.
     * @param afterImport runs at the end of the transaction
     */
    import: (
      context: Context,
      inputs: readonly CheeseInput[],
      seen: SeenCheeses,
      { givenFields, previewed = 0, afterImport }: ImportPart = {},
    ) =>
      throwConflict(() =>
        context.transaction(async (tx) => {
          const { cheeses = 0 } = (await cheeseQueries(tx).lockCatalogue()) ?? {};
          const { outcomes, newDrafts, changes } = await compareImport(tx, inputs, seen, givenFields);
          refuseBeyond(Math.max(0, cheesesMax - cheeses - previewed), newDrafts, outcomes);
          const created: Versioned[] = [];
          await forEachBlock([...newDrafts.values()], insertedAtOnce, async (drafts) => {
            created.push(...(await writes.insert(tx, context, drafts)));
          });
          for (const [index, position] of [...newDrafts.keys()].entries()) {
            const { id, body } = created[index] as Versioned;
            outcomes[position] = { outcome: 'created', id, body };
          }
          const updates: Awaited<ReturnType<CheeseWrites['update']>>['written'][] = [];
          // Sorted for the lock order: rows of a file are in any order, and an order locks several cheeses.
          for (const [position, { id, before, draft }] of [...changes].toSorted(
            ([, a], [, b]) => a.id - b.id,
          )) {
            const { row, written } = await writes.update(tx, context, id, undefined, () => draft);
            outcomes[position] = { outcome: 'updated', id, before, body: row.body };
            updates.push(written);
            await nextTurn();
          }
          // Stock is locked after all cheeses.
          for (const written of updates) {
            await writes.recordUpdates(tx, context, written);
          }
          await afterImport?.(tx, outcomes as ImportOutcome[]);
          return outcomes as ImportOutcome[];
        }),
      ),

    /** Increases with every write to the catalogue; 0 before the first. */
    version: () => cheeseQueries(database).findVersion(),
  };
}

/** Refuses the rows for which the catalogue has no room. */
function refuseBeyond(
  room: number,
  newDrafts: Map<number, Draft>,
  outcomes: (ImportOutcome | undefined)[],
): void {
  for (const place of [...newDrafts.keys()].slice(room)) {
    newDrafts.delete(place);
    outcomes[place] = {
      outcome: 'refused',
      reason: 'the catalogue has as many cheeses as CURD_CATALOGUE_MAX allows',
    };
  }
}

/** Reads and writes single cheeses, with their terms and events. listing/ reads pages of them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { forEachBlock } from '../blocks.ts';
import type { Clock } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { createLookup } from '../database/lookup.ts';
import { chain, type MaybePromise } from '../maybe-promise.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { cheeseToDraft, type Draft, inputToDraft, throwConflict } from './drafts.ts';
import { compareImport, type ImportMode, type ImportOutcome, type SeenCheeses } from './import-comparison.ts';
import { applyPatch, patchToInput } from './patch.ts';
import { type CheeseRow, cheeseLookup, cheeseQueries, type LockedCheeseRow } from './queries.ts';
import {
  type Cheese,
  type CheeseInput,
  type CheeseMergePatch,
  type CheesePatch,
  type CheeseReplacement,
  parseCheese,
} from './schemas.ts';
import { type BeforeDelete, createWrites, notFound } from './writes.ts';

export interface CheeseService {
  /** Returns no promise when the row is cached. @throws AppError notFound */
  find(id: number): MaybePromise<Versioned>;
  findIfThere(id: number): MaybePromise<Versioned | undefined>;
  /** Reads the cheese as committed now, in a transaction. It does not lock the cheese. */
  readIn(tx: Sql, id: number): Promise<Versioned | undefined>;
  /** The ids of the categories with these names. */
  findCategoryIds(names: readonly string[]): Promise<number[]>;
  listNames(ids: readonly number[]): Promise<readonly { readonly id: number; readonly name: string }[]>;
  /** The categories of those of the cheeses that exist, by id; null for a cheese without one. */
  listCategories(tx: Sql, ids: readonly number[]): Promise<ReadonlyMap<number, string | null>>;
  /** The cheeses that exist, by id. They cannot change before the transaction ends. */
  lockForShare(tx: Sql, ids: readonly number[]): Promise<Map<number, LockedCheeseRow>>;
  /** @throws AppError conflict when the name exists in the category */
  create(context: Context, input: CheeseInput): Promise<Versioned>;
  /** @throws AppError notFound, preconditionFailed, conflict */
  replace(context: Context, input: CheeseReplacement, precondition?: Precondition): Promise<Versioned>;
  /** @throws AppError notFound, preconditionFailed, conflict */
  update(context: Context, id: number, patch: CheesePatch, precondition?: Precondition): Promise<Versioned>;
  /** @throws AppError notFound, preconditionFailed, conflict, validation */
  patch(
    context: Context,
    id: number,
    patch: CheeseMergePatch,
    precondition?: Precondition,
  ): Promise<Versioned>;
  /** Works like `update`, in an open transaction. */
  updateIn(tx: Sql, context: Context, id: number, patch: CheesePatch): Promise<Versioned>;
  /** @throws AppError notFound, preconditionFailed, and what `change` throws */
  changePhotos(
    context: Context,
    id: number,
    change: (photoUrls: readonly string[]) => string[],
    precondition?: Precondition,
  ): Promise<Versioned>;
  /** Works like `changePhotos`, in an open transaction. */
  changePhotosIn(
    tx: Sql,
    context: Context,
    id: number,
    change: (photoUrls: readonly string[]) => string[],
    precondition?: Precondition,
  ): Promise<Versioned>;
  /** @throws AppError notFound, preconditionFailed, and what `beforeDelete` throws */
  delete(context: Context, id: number, precondition?: Precondition): Promise<void>;
  /** Works like `delete`, in an open transaction. */
  deleteIn(tx: Sql, context: Context, id: number, precondition?: Precondition): Promise<void>;
  /** Cheeses with a higher id, in the order of ids. */
  listAfter(id: number, limit: number): Promise<Versioned[]>;
  /** The number of all cheeses. */
  count(): Promise<number>;
  /**
   * Creates the cheeses that do not exist yet, in one transaction, and updates others as `mode` says.
   * @param afterImport runs at the end of the transaction
   */
  import(
    context: Context,
    inputs: readonly CheeseInput[],
    seen: SeenCheeses,
    mode?: ImportMode,
    afterImport?: (tx: Sql, outcomes: readonly ImportOutcome[]) => Promise<void>,
  ): Promise<ImportOutcome[]>;
  /** Increases with every write to the catalogue; 0 before the first. */
  version(): Promise<number>;
}

/** Place in a group of changes: after those of stored cheeses, because a new one locks none of them. */
const newLast = Number.MAX_SAFE_INTEGER;

/** New cheeses of an import between which other requests are processed: about 10 ms. */
const insertedAtOnce = 50;

export interface CheeseDependencies {
  readonly database: Database;
  readonly clock: Clock;
  /** The number of cheeses that the catalogue may have. */
  readonly cheesesMax: number;
  readonly beforeDelete: BeforeDelete;
  /** Runs in the transaction that changes the status of a cheese. */
  readonly onStatusChange: (tx: Sql, cheeseId: number) => Promise<void>;
}

export function createCheeseService(dependencies: CheeseDependencies): CheeseService {
  const { database, cheesesMax } = dependencies;
  const lookup = createLookup<CheeseRow>(database, cheeseLookup);
  const { insert, write, deleteOne } = createWrites(dependencies);

  /** Changes a stored cheese. Other changes of the catalogue may share the transaction. */
  async function writeInGroup(
    context: Context,
    id: number,
    precondition: Precondition | undefined,
    change: (current: Cheese) => Draft,
  ): Promise<Versioned> {
    return throwConflict(() => context.transaction((tx) => write(tx, context, id, precondition, change), id));
  }

  const patched = (patch: CheesePatch) => (current: Cheese) => cheeseToDraft({ ...current, ...patch });

  const withPhotos =
    (change: (photoUrls: readonly string[]) => string[]) =>
    (current: Cheese): Draft => ({ ...cheeseToDraft(current), photoUrls: change(current.photoUrls) });

  return {
    find: (id) =>
      chain(lookup(String(id)), (row) => {
        if (row === undefined) {
          throw notFound(id);
        }
        return row;
      }),

    findIfThere: (id) => lookup(String(id)),

    readIn: (tx, id) => cheeseQueries(tx).find(id),

    async listNames(ids) {
      const rows = await Promise.all(ids.map((id) => lookup(String(id))));
      return rows.flatMap((row) =>
        row === undefined ? [] : [{ id: row.id, name: parseCheese(row.body).name }],
      );
    },

    async findCategoryIds(names) {
      const rows = names.length === 0 ? [] : await cheeseQueries(database).findCategoryIds(names);
      return rows.map(({ id }) => id);
    },

    async listCategories(tx, ids) {
      const rows = await cheeseQueries(tx).listCategories(ids);
      return new Map(rows.map(({ id, category }) => [id, category]));
    },

    async lockForShare(tx, ids) {
      const rows = ids.length === 0 ? [] : await cheeseQueries(tx).lockForShare(ids);
      return new Map(rows.map((row) => [row.id, row]));
    },

    async create(context, input) {
      const draft = await inputToDraft(database, input);
      return throwConflict(() =>
        context.transaction(async (tx) => {
          const [created] = await insert(tx, context, [draft]);
          return created as Versioned;
        }, newLast),
      );
    },

    async replace(context, input, precondition) {
      const draft = await inputToDraft(database, input);
      return writeInGroup(context, input.id, precondition, () => draft);
    },

    update: (context, id, patch, precondition) => writeInGroup(context, id, precondition, patched(patch)),

    updateIn: (tx, context, id, patch) => write(tx, context, id, undefined, patched(patch)),

    async patch(context, id, patch, precondition) {
      const values = await inputToDraft(database, patchToInput(patch));
      return writeInGroup(context, id, precondition, (current) =>
        applyPatch(cheeseToDraft(current), Object.keys(patch), values),
      );
    },

    changePhotos: (context, id, change, precondition) =>
      writeInGroup(context, id, precondition, withPhotos(change)),

    changePhotosIn: (tx, context, id, change, precondition) =>
      write(tx, context, id, precondition, withPhotos(change)),

    delete: (context, id, precondition) =>
      context.transaction((tx) => deleteOne(tx, context, id, precondition)),

    deleteIn: deleteOne,

    listAfter: (id, limit) => cheeseQueries(database).listAfter(id, limit),

    count: () => cheeseQueries(database).countCheeses(),

    import: (context, inputs, seen, mode = {}, afterImport = undefined) =>
      throwConflict(() =>
        context.transaction(async (tx) => {
          const { cheeses = 0 } = (await cheeseQueries(tx).lockCatalogue()) ?? {};
          const { outcomes, newDrafts, changes } = await compareImport(tx, inputs, seen, mode);
          refuseBeyond(Math.max(0, cheesesMax - cheeses), newDrafts, outcomes);
          const created: Versioned[] = [];
          await forEachBlock([...newDrafts.values()], insertedAtOnce, async (drafts) => {
            created.push(...(await insert(tx, context, drafts)));
          });
          for (const [index, position] of [...newDrafts.keys()].entries()) {
            const { id, body } = created[index] as Versioned;
            outcomes[position] = { outcome: 'created', id, body };
          }
          // Sorted for the lock order: rows of a file are in any order, and an order locks several cheeses.
          for (const [position, { id, before, draft }] of [...changes].toSorted(
            ([, a], [, b]) => a.id - b.id,
          )) {
            const { body } = await write(tx, context, id, undefined, () => draft);
            outcomes[position] = { outcome: 'updated', id, before, body };
            await nextTurn();
          }
          await afterImport?.(tx, outcomes as ImportOutcome[]);
          return outcomes as ImportOutcome[];
        }),
      ),

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

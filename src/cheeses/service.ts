/** Reads and writes single cheeses, with their terms, counters and events. listing.ts reads pages of them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { forEachBlock } from '../blocks.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { isDryRun, nextDryId } from '../database/dry-run.ts';
import { createLookup } from '../database/lookup.ts';
import { AppError } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import { chain, type MaybePromise } from '../maybe-promise.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { cheeseUpdated } from './changes.ts';
import { cheeseToDraft, type Draft, inputToDraft, storedTermsOf, throwConflict, toCheese } from './drafts.ts';
import { cheeseEvents } from './event-types.ts';
import { expectedTermIds, termIdsOf } from './expected-terms.ts';
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
  type Status,
  statuses,
} from './schemas.ts';
import { findOrCreateTerms, reindex, toRow } from './search-index.ts';

export interface CheeseService {
  /** Without a promise when the row is cached. @throws AppError notFound */
  find(id: number): MaybePromise<Versioned>;
  findIfThere(id: number): MaybePromise<Versioned | undefined>;
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
  /** The same in an open transaction. */
  updateIn(tx: Sql, context: Context, id: number, patch: CheesePatch): Promise<Versioned>;
  /** @throws AppError notFound, preconditionFailed, and what `change` throws */
  changePhotos(
    context: Context,
    id: number,
    change: (photoUrls: readonly string[]) => string[],
    precondition?: Precondition,
  ): Promise<Versioned>;
  /** The same in an open transaction. */
  changePhotosIn(
    tx: Sql,
    context: Context,
    id: number,
    change: (photoUrls: readonly string[]) => string[],
    precondition?: Precondition,
  ): Promise<Versioned>;
  /** @throws AppError notFound, preconditionFailed, and what `beforeDelete` throws */
  delete(context: Context, id: number, precondition?: Precondition): Promise<void>;
  /** The same in an open transaction. */
  deleteIn(tx: Sql, context: Context, id: number, precondition?: Precondition): Promise<void>;
  countByStatus(): Promise<Record<Status, number>>;
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

/** New cheeses of an import between which other requests are processed: about 10 ms. */
const insertedAtOnce = 50;

/** Runs in the transaction that deletes a cheese. It may throw to prevent the deletion. */
type BeforeDelete = (tx: Sql, context: Context, cheese: Cheese) => Promise<void>;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly beforeDelete: BeforeDelete;
  /** Runs in the transaction that changes the status of a cheese. */
  readonly onStatusChange: (tx: Sql, cheeseId: number) => Promise<void>;
}

export function createCheeseService(dependencies: Dependencies): CheeseService {
  const { database, clock, beforeDelete, onStatusChange } = dependencies;
  const lookup = createLookup<CheeseRow>(database, cheeseLookup);
  const now = () => timestamp(clock.now());

  /** Inserts cheeses. The unique index of the database decides whether a name is free. */
  async function insert(tx: Sql, context: Context, drafts: readonly Draft[]): Promise<Versioned[]> {
    const queries = cheeseQueries(tx);
    const isDry = isDryRun(tx);
    const known = await termIdsOf(tx, drafts);
    const catalogue = await queries.updateCatalogue(now(), isDry ? 0 : drafts.length);
    const idOf = await findOrCreateTerms(tx, drafts.flatMap(storedTermsOf), known);
    const firstId = catalogue.last_cheese_id - drafts.length + 1;
    const createdAt = catalogue.last_written_at;
    const cheeses = drafts.map((draft, index) =>
      toCheese(draft, idOf, { id: isDry ? nextDryId(tx) : firstId + index, createdAt, updatedAt: createdAt }),
    );
    const rows = cheeses.map((cheese) => toRow(cheese, 1, catalogue.version, idOf));
    await throwConflict(() => queries.insert(rows.toSorted(byName)));
    await reindex(
      tx,
      cheeses.toSorted(byName).map((cheese) => ({ before: null, after: cheese })),
      known,
    );
    const events = cheeses.map((cheese) => cheeseEvents.created.of(`cheese:${cheese.id}`, cheese));
    await recordEvents(tx, context.origin, createdAt, events);
    return rows;
  }

  /** Replaces one cheese by the draft that `prepare` leads to. A draft without a difference changes nothing. */
  async function write(
    tx: Sql,
    context: Context,
    id: number,
    precondition: Precondition | undefined,
    prepare: () => Promise<(current: Cheese) => Draft>,
  ): Promise<Versioned> {
    const queries = cheeseQueries(tx);
    const find = () => (Number.isSafeInteger(id) ? queries.find(id) : undefined);
    const change = await prepare();
    const known = await expectedTermIds(tx, find, change);
    const [, row] = await Promise.all([queries.lockCatalogue(), find()]);
    if (row === undefined) {
      throw notFound(id);
    }
    const before = parseCheese(row.body);
    precondition?.(row.version);
    const draft = change(before);
    const idOf = await findOrCreateTerms(tx, storedTermsOf(draft), known);
    const { createdAt, updatedAt } = before;
    if (JSON.stringify(toCheese(draft, idOf, { id, createdAt, updatedAt })) === row.body) {
      return row;
    }
    const catalogue = await queries.updateCatalogue(now(), 0);
    const after = toCheese(draft, idOf, { id, createdAt, updatedAt: catalogue.last_written_at });
    const changed = toRow(after, row.version + 1, catalogue.version, idOf);
    await throwConflict(() => queries.update(changed));
    await reindex(tx, [{ before, after }], known);
    if (after.status !== before.status) {
      await onStatusChange(tx, id);
    }
    await recordEvents(tx, context.origin, catalogue.last_written_at, [
      cheeseEvents.updated.of(`cheese:${id}`, cheeseUpdated(before, after)),
    ]);
    return changed;
  }

  const updateIn = (tx: Sql, context: Context, id: number, patch: CheesePatch, precondition?: Precondition) =>
    write(tx, context, id, precondition, async () => (current) => cheeseToDraft({ ...current, ...patch }));

  const changePhotosIn: CheeseService['changePhotosIn'] = (tx, context, id, change, precondition) =>
    write(tx, context, id, precondition, async () => (current) => ({
      ...cheeseToDraft(current),
      photoUrls: change(current.photoUrls),
    }));

  const deleteIn: CheeseService['deleteIn'] = async (tx, context, id, precondition) => {
    const queries = cheeseQueries(tx);
    await queries.lockCatalogue();
    const row = await queries.lockForUpdate(id);
    if (row === undefined) {
      throw notFound(id);
    }
    precondition?.(row.version);
    const before = parseCheese(row.body);
    await beforeDelete(tx, context, before);
    const catalogue = await queries.updateCatalogue(now(), 0);
    await queries.delete(id);
    await queries.insertTombstone(id, catalogue.version, catalogue.last_written_at);
    await reindex(tx, [{ before, after: null }]);
    await recordEvents(tx, context.origin, catalogue.last_written_at, [
      cheeseEvents.deleted.of(`cheese:${id}`, before),
    ]);
  };

  return {
    find: (id) =>
      chain(lookup(String(id)), (row) => {
        if (row === undefined) {
          throw notFound(id);
        }
        return row;
      }),

    findIfThere: (id) => lookup(String(id)),

    async lockForShare(tx, ids) {
      const rows = ids.length === 0 ? [] : await cheeseQueries(tx).lockForShare(ids);
      return new Map(rows.map((row) => [row.id, row]));
    },

    create: (context, input) =>
      context.transaction(async (tx) => {
        const [created] = await insert(tx, context, [await inputToDraft(tx, input)]);
        return created as Versioned;
      }),

    replace: (context, input, precondition) =>
      context.transaction((tx) =>
        write(tx, context, input.id, precondition, async () => {
          const draft = await inputToDraft(tx, input);
          return () => draft;
        }),
      ),

    update: (context, id, patch, precondition) =>
      context.transaction((tx) => updateIn(tx, context, id, patch, precondition)),

    updateIn,

    patch: (context, id, patch, precondition) =>
      context.transaction((tx) =>
        write(tx, context, id, precondition, async () => {
          const values = await inputToDraft(tx, patchToInput(patch));
          return (current) => applyPatch(cheeseToDraft(current), Object.keys(patch), values);
        }),
      ),

    changePhotos: (context, id, change, precondition) =>
      context.transaction((tx) => changePhotosIn(tx, context, id, change, precondition)),

    changePhotosIn,

    delete: (context, id, precondition) =>
      context.transaction((tx) => deleteIn(tx, context, id, precondition)),

    deleteIn,

    async countByStatus() {
      const counts = Object.fromEntries(statuses.map((status) => [status, 0])) as Record<Status, number>;
      for (const { status, cheeses } of await cheeseQueries(database).countByStatus()) {
        counts[status] = cheeses;
      }
      return counts;
    },

    import: (context, inputs, seen, mode = {}, afterImport = undefined) =>
      context.transaction(async (tx) => {
        await cheeseQueries(tx).lockCatalogue();
        const { outcomes, newDrafts, changes } = await compareImport(tx, inputs, seen, mode);
        const created: Versioned[] = [];
        await forEachBlock([...newDrafts.values()], insertedAtOnce, async (drafts) => {
          created.push(...(await insert(tx, context, drafts)));
        });
        for (const [index, position] of [...newDrafts.keys()].entries()) {
          const { id, body } = created[index] as Versioned;
          outcomes[position] = { outcome: 'created', id, body };
        }
        for (const [position, { id, draft }] of changes) {
          const { body } = await write(tx, context, id, undefined, async () => () => draft);
          outcomes[position] = { outcome: 'updated', id, body };
          await nextTurn();
        }
        await afterImport?.(tx, outcomes as ImportOutcome[]);
        return outcomes as ImportOutcome[];
      }),

    version: () => cheeseQueries(database).findVersion(),
  };
}

/** Most indexes are sorted by name: rows in that order write each page of an index once. */
function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

function notFound(id: number): AppError {
  return new AppError(
    'notFound',
    Number.isSafeInteger(id) ? `There is no cheese with the id ${id}.` : 'There is no such cheese.',
  );
}

/** Writes cheeses in an open transaction, with their terms and events. */

import { requireMayCreate, requireWithin } from '../access/confinement.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { isDryRun, nextDryId } from '../database/dry-run.ts';
import { AppError } from '../errors.ts';
import { recordEvents } from '../event-log/record.ts';
import type { Hooks } from '../hooks/hooks.ts';
import { nameKey } from '../schema/folding.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { type CheeseUpdated, cheeseUpdated, type Draft, listTerms, toCheese } from './drafts.ts';
import { cheeseEvents } from './event-types.ts';
import { cheeseDeleted, cheesePortionsChanged, cheeseStatusChanged } from './hook-points.ts';
import { deletePrices, recordFirstPrices, recordPriceChange } from './prices/record.ts';
import { type CatalogueRow, type CheeseRow, cheeseQueries, type NewCheeseRow } from './queries.ts';
import { type Cheese, parseCheese } from './schemas.ts';
import { KnownTerms } from './terms.ts';

export interface WriteDependencies {
  readonly clock: Clock;
  /** The number of cheeses that the catalogue may have. */
  readonly cheesesMax: number;
  readonly hooks: Hooks;
}

/** A cheese whose row is locked, and what it shall be. */
interface PlannedUpdate {
  readonly row: CheeseRow;
  readonly before: Cheese;
  readonly draft: Draft;
}

interface WrittenUpdate {
  readonly row: NewCheeseRow;
  readonly cheese: Cheese;
  readonly event: CheeseUpdated;
}

export type CheeseWrites = ReturnType<typeof createWrites>;

/** @returns functions that services call in their transactions */
export function createWrites(dependencies: WriteDependencies) {
  const { clock, cheesesMax, hooks } = dependencies;
  const now = () => timestamp(clock.now());

  /**
   * Inserts cheeses. The unique index of the database decides whether a name is free (`throwConflict`).
   * @throws AppError conflict when the catalogue is full
   */
  async function insert(tx: Sql, context: Context, drafts: readonly Draft[]): Promise<Versioned[]> {
    const queries = cheeseQueries(tx);
    const isDry = isDryRun(tx);
    const { limits } = context.origin;
    requireMayCreate(limits);
    const terms = drafts.flatMap(listTerms);
    const known = new KnownTerms([]);
    const [catalogue] = await Promise.all([
      queries.updateCatalogue(now(), isDry ? 0 : drafts.length),
      known.find(tx, terms),
    ]);
    requireRoom(catalogue.cheeses + (isDry ? drafts.length : 0));
    await known.create(tx, terms);
    const firstId = catalogue.last_cheese_id - drafts.length + 1;
    const createdAt = catalogue.last_written_at;
    const cheeses = drafts.map((draft, index) =>
      toCheese(draft, known.of, {
        id: isDry ? nextDryId(tx) : firstId + index,
        createdAt,
        updatedAt: createdAt,
      }),
    );
    for (const cheese of cheeses) {
      requireWithin(limits, cheese);
    }
    const rows = cheeses.map((cheese) => toRow(cheese, 1, catalogue.version));
    await queries.insert(rows);
    await recordFirstPrices(tx, cheeses);
    const events = cheeses.map((cheese) => cheeseEvents.created.of(`cheese:${cheese.id}`, cheese));
    await recordEvents(tx, context.origin, createdAt, events);
    return rows;
  }

  function requireRoom(cheeses: number): void {
    if (cheeses > cheesesMax) {
      throw new AppError(
        'conflict',
        `The catalogue is full: CURD_CATALOGUE_MAX allows ${cheesesMax} cheeses. Delete cheeses, or start the server with a higher number.`,
      );
    }
  }

  /** Replaces one cheese by the draft that `change` returns. A draft without a difference changes nothing. */
  async function write(...[tx, context, ...rest]: Parameters<typeof update>): Promise<Versioned> {
    const { row, written } = await update(tx, context, ...rest);
    await recordUpdates(tx, context, written);
    return row;
  }

  /** `write`, after which `recordUpdates` must follow when the last cheese is locked. */
  async function update(
    tx: Sql,
    context: Context,
    id: number,
    precondition: Precondition | undefined,
    change: (current: Cheese) => Draft,
  ): Promise<{ readonly row: Versioned; readonly written: readonly WrittenUpdate[] }> {
    const queries = cheeseQueries(tx);
    const [, row] = await Promise.all([
      queries.lockCatalogue(),
      Number.isSafeInteger(id) ? queries.find(id) : undefined,
    ]);
    if (row === undefined) {
      throw notFound(id);
    }
    const before = parseCheese(row.body);
    requireWithin(context.origin.limits, before);
    precondition?.(row.version);
    const changes = [{ row, before, draft: change(before) }];
    const written = await updateRows(tx, context, changes, () => newVersion(tx));
    return { row: written[0]?.row ?? row, written };
  }

  /** Increases the version of the catalogue. */
  const newVersion = (tx: Sql) => cheeseQueries(tx).updateCatalogue(now(), 0);

  /**
   * Stores the drafts that differ from their cheeses. `recordUpdates` must follow, after all cheeses are locked.
   * @param nextVersion called when a draft differs
   */
  async function updateRows(
    tx: Sql,
    context: Context,
    changes: readonly PlannedUpdate[],
    nextVersion: () => Promise<CatalogueRow>,
  ): Promise<WrittenUpdate[]> {
    const queries = cheeseQueries(tx);
    const terms = changes.flatMap(({ draft }) => listTerms(draft));
    const known = new KnownTerms(changes.map(({ before }) => before));
    await known.find(tx, terms);
    await known.create(tx, terms);
    const differing = changes.filter(
      ({ row, before, draft }) => JSON.stringify(toCheese(draft, known.of, before)) !== row.body,
    );
    if (differing.length === 0) {
      return [];
    }
    const { version: changedIn, last_written_at: updatedAt } = await nextVersion();
    return Promise.all(
      differing.map(async ({ row: { version }, before, draft }) => {
        const cheese = toCheese(draft, known.of, { ...before, updatedAt });
        requireWithin(context.origin.limits, cheese);
        const row = toRow(cheese, version + 1, changedIn);
        await queries.update(row);
        return { row, cheese, event: cheeseUpdated(before, cheese) };
      }),
    );
  }

  /** Records the prices, the statuses and the events of updates. Stock is locked after all cheeses, by the lock order. */
  async function recordUpdates(tx: Sql, context: Context, written: readonly WrittenUpdate[]): Promise<void> {
    await Promise.all(
      written.map(async ({ row, cheese, event }) => {
        if (event.changes.pricePerKg !== undefined) {
          await recordPriceChange(tx, cheese, row.version);
        }
        if (event.changes.status !== undefined) {
          await hooks.run(cheeseStatusChanged, tx, context, cheese);
        }
        if (event.changes.portions !== undefined) {
          await hooks.run(cheesePortionsChanged, tx, context, cheese);
        }
      }),
    );
    if (written.length === 0) {
      return;
    }
    const events = written.map(({ event }) => cheeseEvents.updated.of(`cheese:${event.id}`, event));
    await recordEvents(tx, context.origin, written[0]?.cheese.updatedAt ?? '', events);
  }

  async function deleteOne(
    tx: Sql,
    context: Context,
    id: number,
    precondition?: Precondition,
  ): Promise<void> {
    const queries = cheeseQueries(tx);
    await queries.lockCatalogue();
    const row = await queries.lockForUpdate(id);
    if (row === undefined) {
      throw notFound(id);
    }
    precondition?.(row.version);
    const before = parseCheese(row.body);
    requireWithin(context.origin.limits, before);
    await hooks.run(cheeseDeleted, tx, context, before);
    const catalogue = await queries.updateCatalogue(now(), 0, 1);
    await queries.delete(id);
    await deletePrices(tx, id);
    await queries.insertTombstone(id, catalogue.version, catalogue.last_written_at);
    await recordEvents(tx, context.origin, catalogue.last_written_at, [
      cheeseEvents.deleted.of(`cheese:${id}`, before),
    ]);
  }

  return { insert, write, update, newVersion, updateRows, recordUpdates, deleteOne };
}

/** The row that stores a cheese. */
export function toRow(cheese: Cheese, version: number, changedIn: number): NewCheeseRow {
  return {
    id: cheese.id,
    version,
    nameKey: nameKey(cheese.name),
    categoryId: cheese.category?.id ?? 0,
    status: cheese.status,
    body: JSON.stringify(cheese),
    changedIn,
  };
}

/** @param id of a cheese that does not exist */
export function notFound(id: number): AppError {
  return new AppError(
    'notFound',
    Number.isSafeInteger(id) ? `There is no cheese with the id ${id}.` : 'There is no such cheese.',
  );
}

/** Writes cheeses in an open transaction, with their terms, counters and events. */
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { isDryRun, nextDryId } from '../database/dry-run.ts';
import { AppError } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { cheeseUpdated } from './changes.ts';
import { type Draft, storedTermsOf, toCheese } from './drafts.ts';
import { cheeseEvents } from './event-types.ts';
import { cheeseQueries } from './queries.ts';
import { type Cheese, parseCheese } from './schemas.ts';
import { findOrCreateTerms, reindex, toRow } from './search-index.ts';
import type { KnownTerms, TermCache } from './term-cache.ts';

/** Runs in the transaction that deletes a cheese. It may throw to prevent the deletion. */
export type BeforeDelete = (tx: Sql, context: Context, cheese: Cheese) => Promise<void>;

interface Dependencies {
  readonly clock: Clock;
  readonly terms: Pick<TermCache, 'idsIn'>;
  readonly beforeDelete: BeforeDelete;
  /** Runs in the transaction that changes the status of a cheese. */
  readonly onStatusChange: (tx: Sql, cheeseId: number) => Promise<void>;
}

/** @returns functions that the service calls in its transactions */
export function createWrites({ clock, terms, beforeDelete, onStatusChange }: Dependencies) {
  const now = () => timestamp(clock.now());

  /** Inserts cheeses. The unique index of the database decides whether a name is free (`throwConflict`). */
  async function insert(
    tx: Sql,
    context: Context,
    drafts: readonly Draft[],
    known?: KnownTerms,
  ): Promise<Versioned[]> {
    const queries = cheeseQueries(tx);
    const isDry = isDryRun(tx);
    const [ids, catalogue] = await Promise.all([
      terms.idsIn(tx, known, drafts),
      queries.updateCatalogue(now(), isDry ? 0 : drafts.length),
    ]);
    const idOf = await findOrCreateTerms(tx, drafts.flatMap(storedTermsOf), ids);
    const firstId = catalogue.last_cheese_id - drafts.length + 1;
    const createdAt = catalogue.last_written_at;
    const cheeses = drafts.map((draft, index) =>
      toCheese(draft, idOf, { id: isDry ? nextDryId(tx) : firstId + index, createdAt, updatedAt: createdAt }),
    );
    const rows = cheeses.map((cheese) => toRow(cheese, 1, catalogue.version, idOf));
    await queries.insert(rows.toSorted(byName));
    await reindex(
      tx,
      cheeses.toSorted(byName).map((cheese) => ({ before: null, after: cheese })),
      ids,
    );
    const events = cheeses.map((cheese) => cheeseEvents.created.of(`cheese:${cheese.id}`, cheese));
    await recordEvents(tx, context.origin, createdAt, events);
    return rows;
  }

  /** Replaces one cheese by the draft that `change` returns. A draft without a difference changes nothing. */
  async function write(
    tx: Sql,
    context: Context,
    id: number,
    precondition: Precondition | undefined,
    change: (current: Cheese) => Draft,
    known?: KnownTerms,
  ): Promise<Versioned> {
    const queries = cheeseQueries(tx);
    const [ids, , row] = await Promise.all([
      terms.idsIn(tx, known),
      queries.lockCatalogue(),
      Number.isSafeInteger(id) ? queries.find(id) : undefined,
    ]);
    if (row === undefined) {
      throw notFound(id);
    }
    const before = parseCheese(row.body);
    precondition?.(row.version);
    const draft = change(before);
    const idOf = await findOrCreateTerms(tx, storedTermsOf(draft), ids);
    const { createdAt, updatedAt } = before;
    if (JSON.stringify(toCheese(draft, idOf, { id, createdAt, updatedAt })) === row.body) {
      return row;
    }
    const catalogue = await queries.updateCatalogue(now(), 0);
    const after = toCheese(draft, idOf, { id, createdAt, updatedAt: catalogue.last_written_at });
    const changed = toRow(after, row.version + 1, catalogue.version, idOf);
    await queries.update(changed);
    await reindex(tx, [{ before, after }], ids);
    if (after.status !== before.status) {
      await onStatusChange(tx, id);
    }
    await recordEvents(tx, context.origin, catalogue.last_written_at, [
      cheeseEvents.updated.of(`cheese:${id}`, cheeseUpdated(before, after)),
    ]);
    return changed;
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
    await beforeDelete(tx, context, before);
    const catalogue = await queries.updateCatalogue(now(), 0);
    await queries.delete(id);
    await queries.insertTombstone(id, catalogue.version, catalogue.last_written_at);
    await reindex(tx, [{ before, after: null }]);
    await recordEvents(tx, context.origin, catalogue.last_written_at, [
      cheeseEvents.deleted.of(`cheese:${id}`, before),
    ]);
  }

  return { insert, write, deleteOne };
}

/** Most indexes are sorted by name: rows in that order write each page of an index once. */
function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

/** @param id of a cheese that does not exist */
export function notFound(id: number): AppError {
  return new AppError(
    'notFound',
    Number.isSafeInteger(id) ? `There is no cheese with the id ${id}.` : 'There is no such cheese.',
  );
}

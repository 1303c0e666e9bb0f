/**
 * Loads an index, and follows the changes of the catalogue. Versions of the catalogue are given under a lock that is kept
 * to the commit, so whoever has read a version has seen every change of the lower ones.
 */

import { tryParseJson } from '../../database/checks/findings.ts';
import type { Sql } from '../../database/database.ts';
import { unavailable } from '../../errors.ts';
import { type CheeseRow, cheeseQueries } from '../queries.ts';
import { CatalogueIndex, type IndexedCheese, type StoredCheese } from './catalogue-index.ts';
import { type IndexRow, type ReadPlace, searchIndexQueries } from './queries.ts';
import { inSlices, pause } from './slices.ts';

/** Fewer changes are followed. More of them, and more than cheeses, take longer than a load: each twice as long as a cheese. */
const followedMin = 1000;
/** Changes of each kind that are read and applied in one slice: 3 ms. */
const changesAtOnce = 250;
/**
 * Cheeses that are loaded in one slice, and the bytes that they should have: cheeses can have long photo URLs. The first
 * slices run code that is not compiled yet.
 */
const loadedAtOnceMax = 200;
const loadedAtOnceFirst = 50;
const loadedBytes = 128 * 1024;
const last = Number.MAX_SAFE_INTEGER;

type StoredBody = Pick<CheeseRow, 'id' | 'body'>;

/** An index at a version of the catalogue. */
export interface IndexAt {
  readonly index: CatalogueIndex;
  readonly timeline: string;
  readonly place: ReadPlace;
}

export interface Followed extends IndexAt {
  /** Bodies by id, of the version that the index has: cheeses that were asked for, and those of the last changes. */
  readonly bodies: ReadonlyMap<number, string>;
}

/** Loads the whole catalogue, and then what changed meanwhile. @param isWanted ends the load when it returns false */
export async function loadIndex(tx: Sql, isWanted: () => boolean): Promise<IndexAt> {
  for (;;) {
    const rows = await searchIndexQueries(tx).readChanges([], placeAfter(last, last), 1);
    const { version, timeline } = stateOf(rows);
    const index = new CatalogueIndex();
    index.columns.reserve(await cheeseQueries(tx).countCheeses());
    await loadCheeses(tx, index, isWanted);
    await inSlices(index.sort());
    const followed = await follow(tx, { index, timeline, place: placeAfter(version, 0) }, []);
    if (followed !== null) {
      return followed;
    }
  }
}

async function loadCheeses(tx: Sql, index: CatalogueIndex, isWanted: () => boolean): Promise<void> {
  let limit = loadedAtOnceFirst;
  for (let after = 0; ; ) {
    if (!isWanted()) {
      throw unavailable('The server is stopping.', 1);
    }
    const rows = await cheeseQueries(tx).listAfter(after, limit);
    index.append(toStored(rows));
    if (rows.length < limit) {
      return;
    }
    after = rows.at(-1)?.id ?? last;
    const bytes = rows.reduce((sum, { body }) => sum + body.length, 0);
    limit = Math.max(1, Math.min(loadedAtOnceMax, Math.floor((limit * loadedBytes) / bytes)));
    await pause();
  }
}

/**
 * Brings an index to the present. null: the database has another history than the index, has forgotten deletions that the
 * index does not know, or has so many changes that a load is faster. Then it must be loaded again.
 */
export async function follow(tx: Sql, from: IndexAt, ids: readonly number[]): Promise<Followed | null> {
  const { index, timeline } = from;
  let { place } = from;
  for (let isFirst = true; ; isFirst = false) {
    const rows = await searchIndexQueries(tx).readChanges(ids, place, changesAtOnce);
    const state = stateOf(rows);
    const isOtherHistory = state.timeline !== timeline || state.version < from.place.cheeses.version;
    if (isOtherHistory || state.tombstonesAfter > place.tombstones.version) {
      return null;
    }
    const bodies = applyRows(index, rows);
    const counts = Map.groupBy(rows, ({ kind }) => kind);
    const isLast = [...counts].every(([kind, { length }]) => kind === 'cheese' || length < changesAtOnce);
    place = isLast ? placeAfter(state.version, lastTerm(rows, place)) : placeOf(rows, place);
    if (isLast) {
      return { index, timeline, place, bodies };
    }
    await pause();
    if (isFirst && (await isFarBehind(tx, index, place))) {
      return null;
    }
  }
}

function isFarBehind(tx: Sql, index: CatalogueIndex, { cheeses }: ReadPlace): Promise<boolean> {
  return searchIndexQueries(tx).hasMoreChanges(cheeses, Math.max(followedMin, index.size));
}

/** Returns the bodies of the rows by id. */
function applyRows(index: CatalogueIndex, rows: readonly IndexRow[]): Map<number, string> {
  const bodies = new Map<number, string>();
  const changed: StoredBody[] = [];
  const deleted: number[] = [];
  for (const { kind, id, text } of rows) {
    if (kind === 'category' || kind === 'tag') {
      index.terms(kind).ensure(text ?? '', id);
    } else if (kind === 'deleted') {
      deleted.push(id);
    } else if (kind !== 'state') {
      bodies.set(id, text ?? '');
      if (kind === 'changed') {
        changed.push({ id, body: text ?? '' });
      }
    }
  }
  const isChanged = changed.length + deleted.length > 0;
  if (isChanged || rows.some(({ kind }) => kind === 'category' || kind === 'tag')) {
    const stored = toStored(changed);
    const valid = new Set(stored.map(({ cheese }) => cheese.id));
    const broken = changed.flatMap(({ id }) => (valid.has(id) ? [] : [id]));
    index.change(stored, [...deleted, ...broken]);
  }
  return bodies;
}

/** A body that is not JSON is in no list. `curd doctor` reports it. */
function toStored(rows: readonly StoredBody[]): StoredCheese[] {
  return rows.flatMap(({ body }) => {
    const cheese = tryParseJson<IndexedCheese>(body);
    return cheese === undefined ? [] : [{ cheese, size: body.length }];
  });
}

function stateOf(rows: readonly IndexRow[]) {
  const row = rows.find(({ kind }) => kind === 'state') as IndexRow;
  return { version: row.id, tombstonesAfter: row.version, timeline: row.text ?? '' };
}

/** The place after all changes of a version. */
function placeAfter(version: number, termId: number): ReadPlace {
  return { cheeses: { version, id: last }, tombstones: { version, id: last }, termId };
}

/** The place after the rows that were read, if more follow. */
function placeOf(rows: readonly IndexRow[], { cheeses, tombstones, termId }: ReadPlace): ReadPlace {
  const lastOf = (kind: IndexRow['kind'], before: ReadPlace['cheeses']) => {
    const row = rows.findLast((candidate) => candidate.kind === kind);
    return row === undefined ? before : { version: row.version, id: row.id };
  };
  return {
    cheeses: lastOf('changed', cheeses),
    tombstones: lastOf('deleted', tombstones),
    termId: lastTerm(rows, { cheeses, tombstones, termId }),
  };
}

function lastTerm(rows: readonly IndexRow[], { termId }: ReadPlace): number {
  return rows.reduce(
    (highest, { kind, id }) => (kind === 'category' || kind === 'tag' ? Math.max(highest, id) : highest),
    termId,
  );
}

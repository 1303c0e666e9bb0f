/** The catalogue: what may be written to it, and everything a change takes along. listing.ts reads it by the page. */
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import { ConstraintError, type Database, type Sql } from '../database/database.ts';
import { createLookup } from '../database/lookup.ts';
import { AppError, validationError } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import type { NewEvent } from '../events/schemas.ts';
import { chain, type MaybePromise } from '../maybe-promise.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { cheeseUpdated } from './changes.ts';
import { type CheeseRow, cheeseLookup, cheeseQueries } from './queries.ts';
import {
  type Cheese,
  type CheeseInput,
  type CheesePatch,
  type CheeseReplacement,
  type Status,
  statuses,
} from './schemas.ts';
import { findOrCreateTerms, reindex, toRow } from './search-index.ts';
import type { Term } from './search-terms.ts';

/** What became of one row of an import. */
export type ImportOutcome =
  | { readonly outcome: 'created' | 'unchanged'; readonly id: number }
  | { readonly outcome: 'refused'; readonly reason: string };

export interface CheeseService {
  /** @throws AppError notFound */
  find(id: number): MaybePromise<Versioned>;
  findIfThere(id: number): MaybePromise<Versioned | undefined>;
  /** The cheeses that exist, by id. They cannot change before the transaction ends. */
  lockForShare(tx: Sql, ids: readonly number[]): Promise<Map<number, Versioned>>;
  /** @throws AppError conflict where the name is taken in its category */
  create(context: Context, input: CheeseInput): Promise<Versioned>;
  /** @throws AppError notFound, preconditionFailed, conflict */
  replace(context: Context, input: CheeseReplacement, precondition?: Precondition): Promise<Versioned>;
  /** @throws AppError notFound, preconditionFailed, conflict */
  update(context: Context, id: number, patch: CheesePatch, precondition?: Precondition): Promise<Versioned>;
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
  /** Creates what is not there yet, all in one transaction. `seen` holds the ids met earlier in the same import. */
  import(context: Context, inputs: readonly CheeseInput[], seen: Set<number>): Promise<ImportOutcome[]>;
  /** The stored cheeses that have all values of one of the inputs. Their photos may differ. */
  findSame(tx: Sql, inputs: readonly CheeseInput[]): Promise<Versioned[]>;
  /** Changes with every write to the catalogue; 0 as long as there was none. */
  version(): Promise<number>;
}

/** What else must happen, or must not be, when a cheese goes: in the same transaction. */
type BeforeDelete = (tx: Sql, context: Context, cheese: Cheese) => Promise<void>;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly beforeDelete: BeforeDelete;
}

/** A cheese with names where the answer will have ids as well, and without what the server supplies. */
type Draft = Omit<Cheese, 'id' | 'category' | 'tags' | 'createdAt' | 'updatedAt'> & {
  readonly categoryName: string | null;
  readonly tagNames: readonly string[];
};

export function createCheeseService({ database, clock, beforeDelete }: Dependencies): CheeseService {
  const lookup = createLookup<CheeseRow>(database, cheeseLookup);
  const now = () => timestamp(clock.now());

  /** Writes new cheeses; uniqueness is the database's to judge. */
  async function insert(tx: Sql, context: Context, drafts: readonly Draft[]): Promise<Versioned[]> {
    const queries = cheeseQueries(tx);
    const catalogue = await queries.updateCatalogue(now(), drafts.length);
    const idOf = await findOrCreateTerms(tx, drafts.flatMap(termsOfDraft));
    const firstId = catalogue.last_cheese_id - drafts.length + 1;
    const createdAt = catalogue.last_written_at;
    const cheeses = drafts.map((draft, index) =>
      toCheese(draft, idOf, { id: firstId + index, createdAt, updatedAt: createdAt }),
    );
    const rows = cheeses.map((cheese) => toRow(cheese, 1));
    await refusingDuplicates(() => queries.insert(rows.toSorted(byName)));
    await reindex(
      tx,
      cheeses.toSorted(byName).map((cheese) => ({ before: null, after: cheese })),
    );
    const events = rows.map(
      (row): NewEvent => ({ type: 'cheese.created', subject: `cheese:${row.id}`, data: row.body }),
    );
    await recordEvents(tx, context.origin, createdAt, events);
    return rows;
  }

  /** Changes one cheese to what `prepare` leads to; an identical result is no change at all. */
  async function write(
    tx: Sql,
    context: Context,
    id: number,
    precondition: Precondition | undefined,
    prepare: () => Promise<(current: Cheese) => Draft>,
  ): Promise<Versioned> {
    const queries = cheeseQueries(tx);
    await queries.lockCatalogue();
    const change = await prepare();
    const row = Number.isSafeInteger(id) ? await queries.find(id) : undefined;
    if (row === undefined) {
      throw notFound(id);
    }
    const before = JSON.parse(row.body) as Cheese;
    precondition?.(row.version);
    const draft = change(before);
    const idOf = await findOrCreateTerms(tx, termsOfDraft(draft));
    const { createdAt, updatedAt } = before;
    if (JSON.stringify(toCheese(draft, idOf, { id, createdAt, updatedAt })) === row.body) {
      return row;
    }
    const catalogue = await queries.updateCatalogue(now(), 0);
    const after = toCheese(draft, idOf, { id, createdAt, updatedAt: catalogue.last_written_at });
    const changed = toRow(after, row.version + 1);
    await refusingDuplicates(() => queries.update(changed));
    await reindex(tx, [{ before, after }]);
    const data = JSON.stringify(cheeseUpdated(before, after));
    await recordEvents(tx, context.origin, catalogue.last_written_at, [
      { type: 'cheese.updated', subject: `cheese:${id}`, data },
    ]);
    return changed;
  }

  const changePhotosIn: CheeseService['changePhotosIn'] = (tx, context, id, change, precondition) =>
    write(tx, context, id, precondition, async () => (current) => ({
      ...draftOf(current),
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
    const before = JSON.parse(row.body) as Cheese;
    await beforeDelete(tx, context, before);
    const catalogue = await queries.updateCatalogue(now(), 0);
    await queries.delete(id);
    await reindex(tx, [{ before, after: null }]);
    await recordEvents(tx, context.origin, catalogue.last_written_at, [
      { type: 'cheese.deleted', subject: `cheese:${id}`, data: row.body },
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
        const [created] = await insert(tx, context, [await toDraft(tx, input)]);
        return created as Versioned;
      }),

    replace: (context, input, precondition) =>
      context.transaction((tx) =>
        write(tx, context, input.id, precondition, async () => {
          const draft = await toDraft(tx, input);
          return () => draft;
        }),
      ),

    update: (context, id, patch, precondition) =>
      context.transaction((tx) =>
        write(tx, context, id, precondition, async () => (current) => draftOf({ ...current, ...patch })),
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

    import: (context, inputs, seen) =>
      context.transaction(async (tx) => {
        await cheeseQueries(tx).lockCatalogue();
        const drafts = await Promise.all(inputs.map((input) => toDraft(tx, input)));
        const { outcomes, fresh } = await compareImport(tx, drafts, seen);
        const created = fresh.size === 0 ? [] : await insert(tx, context, [...fresh.values()]);
        for (const [index, position] of [...fresh.keys()].entries()) {
          outcomes[position] = { outcome: 'created', id: created[index]?.id ?? Number.NaN };
        }
        return outcomes as ImportOutcome[];
      }),

    async findSame(tx, inputs) {
      const drafts = new Map<string, Draft>();
      for (const input of inputs) {
        const draft = await toDraft(tx, input);
        drafts.set(keyOf(draft.categoryName, draft.name), draft);
      }
      const rows = await cheeseQueries(tx).findByNames(
        [...drafts.values()].map((draft) => [draft.categoryName, draft.name.normalize('NFC')]),
      );
      return rows.filter((row) => {
        const draft = drafts.get(keyOf(row.category_name, row.name_key));
        return draft !== undefined && differences(row, draft).every((field) => field === 'photoUrls');
      });
    },

    version: () => cheeseQueries(database).findVersion(),
  };
}

/** Parts an import's rows into those that are there, those that may not be, and those to create. */
async function compareImport(tx: Sql, drafts: readonly Draft[], seen: ReadonlySet<number>) {
  const rows = await cheeseQueries(tx).findByNames(
    drafts.map((draft) => [draft.categoryName, draft.name.normalize('NFC')]),
  );
  const existing = new Map(rows.map((row) => [keyOf(row.category_name, row.name_key), row]));
  const outcomes: (ImportOutcome | undefined)[] = [];
  const fresh = new Map<number, Draft>();
  const freshKeys = new Set<string>();
  const met = new Set<number>(seen);
  for (const [index, draft] of drafts.entries()) {
    const key = keyOf(draft.categoryName, draft.name);
    const row = existing.get(key);
    if (freshKeys.has(key) || (row !== undefined && met.has(row.id))) {
      outcomes[index] = {
        outcome: 'refused',
        reason: 'a row before this one has the same name in the same category',
      };
    } else if (row === undefined) {
      fresh.set(index, draft);
      freshKeys.add(key);
    } else {
      met.add(row.id);
      outcomes[index] = comparedTo(row, draft);
    }
  }
  return { outcomes, fresh };
}

/** What the unique index on cheeses compares. */
function keyOf(categoryName: string | null, name: string): string {
  return JSON.stringify([categoryName, name.normalize('NFC')]);
}

/** Names of the fields in which a stored cheese and a draft differ. */
function differences(row: CheeseRow, draft: Draft): string[] {
  const known = draftOf(JSON.parse(row.body) as Cheese);
  return Object.keys({ ...known, ...draft }).filter(
    (key) => JSON.stringify(known[key as keyof Draft]) !== JSON.stringify(draft[key as keyof Draft]),
  );
}

function comparedTo(row: CheeseRow, draft: Draft): ImportOutcome {
  const differing = differences(row, draft);
  return differing.length === 0
    ? { outcome: 'unchanged', id: row.id }
    : {
        outcome: 'refused',
        reason: `cheese ${row.id} has this name in this category and differs in ${differing.join(', ')}`,
      };
}

function draftOf({
  category,
  tags,
  id: _,
  createdAt: _created,
  updatedAt: _updated,
  ...rest
}: Cheese): Draft {
  return { ...rest, categoryName: category?.name ?? null, tagNames: tags.map(({ name }) => name) };
}

/** Completes an input with defaults, and turns references by id into names. @throws AppError validation */
async function toDraft(tx: Sql, input: CheeseInput): Promise<Draft> {
  const references = [input.category, ...(input.tags ?? [])].flatMap((one) =>
    one?.name === undefined && one?.id !== undefined ? [one.id] : [],
  );
  const names = new Map<string, string>();
  const possible = references.filter(Number.isSafeInteger);
  if (possible.length > 0) {
    for (const { id, kind, name } of await cheeseQueries(tx).findTermsById(possible)) {
      names.set(`${kind} ${id}`, name);
    }
  }
  const errors: { field: string; message: string }[] = [];

  function nameOf(kind: 'category' | 'tag', one: { id?: number; name?: string }, field: string): string {
    const name = one.name ?? names.get(`${kind} ${one.id}`);
    if (name === undefined) {
      errors.push({ field: `${field}.id`, message: `there is no ${kind} with this id` });
    }
    return name ?? '';
  }

  const categoryName = input.category === undefined ? null : nameOf('category', input.category, 'category');
  const tagNames = (input.tags ?? []).map((tag, index) => nameOf('tag', tag, `tags[${index}]`));
  if (errors.length > 0) {
    throw validationError(errors);
  }
  return {
    name: input.name,
    photoUrls: input.photoUrls ?? [],
    status: input.status ?? 'available',
    origin: input.origin ?? null,
    ...(input.pricePerKg === undefined ? {} : { pricePerKg: input.pricePerKg }),
    ...(input.ageMonths === undefined ? {} : { ageMonths: input.ageMonths }),
    organic: input.organic ?? false,
    categoryName,
    tagNames: [...new Set(tagNames)],
  };
}

function termsOfDraft({ categoryName, tagNames }: Draft): Term[] {
  const category: Term[] = categoryName === null ? [] : [['category', categoryName]];
  return [...category, ...tagNames.map((name): Term => ['tag', name])];
}

/** The cheese as it is answered, members in the order in which they are shown. */
function toCheese(
  draft: Draft,
  idOf: (term: Term) => number,
  supplied: Pick<Cheese, 'id' | 'createdAt' | 'updatedAt'>,
): Cheese {
  const { categoryName, tagNames } = draft;
  return {
    id: supplied.id,
    name: draft.name,
    ...(categoryName === null
      ? {}
      : { category: { id: idOf(['category', categoryName]), name: categoryName } }),
    photoUrls: draft.photoUrls,
    tags: tagNames.map((name) => ({ id: idOf(['tag', name]), name })),
    status: draft.status,
    origin: draft.origin,
    ...(draft.pricePerKg === undefined ? {} : { pricePerKg: draft.pricePerKg }),
    ...(draft.ageMonths === undefined ? {} : { ageMonths: draft.ageMonths }),
    organic: draft.organic,
    createdAt: supplied.createdAt,
    updatedAt: supplied.updatedAt,
  };
}

/** Most indexes keep the order of names: rows that come in it are written together, page by page. */
function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

async function refusingDuplicates(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    // Besides the primary key, which the catalogue hands out, this is the one unique index on cheeses.
    throw error instanceof ConstraintError
      ? new AppError('conflict', 'A cheese with this name already exists in the category.', { cause: error })
      : error;
  }
}

function notFound(id: number): AppError {
  return new AppError(
    'notFound',
    Number.isSafeInteger(id) ? `There is no cheese with the id ${id}.` : 'There is no such cheese.',
  );
}

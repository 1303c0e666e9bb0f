/** Compares the rows of an import with the stored cheeses. */
import type { Sql } from '../database/database.ts';
import { AppError, joinErrors } from '../errors.ts';
import { nameKey } from '../schema/folding.ts';
import type { Versioned } from '../versioned.ts';
import { applyPatch, cheeseToDraft, type Draft, differingFields, inputToDraft, uniqueKey } from './drafts.ts';
import type { CheeseField } from './fields.ts';
import { cheeseQueries } from './queries.ts';
import { type CheeseInput, parseCheese } from './schemas.ts';

/** The result of one row of an import. */
export type ImportOutcome =
  | {
      readonly outcome: 'created' | 'unchanged';
      readonly id: number;
      /** The cheese as JSON. */
      readonly body: string;
    }
  | {
      readonly outcome: 'updated';
      readonly id: number;
      /** The cheese as JSON, before and after. */
      readonly before: string;
      readonly body: string;
    }
  | RefusedRow;

interface RefusedRow {
  readonly outcome: 'refused';
  readonly reason: string;
}

/** What earlier rows of a file have matched: ids of cheeses, and in a preview unique keys, because it stores none. */
export type SeenCheeses = ReadonlySet<number | string>;

/** The fields of each row that update an existing cheese. If undefined, such a row is unchanged or refused. */
export type GivenFields = readonly (readonly CheeseField[])[] | undefined;

/** The reason of a row that was refused. Throws all other errors. */
export function refusedRow(error: unknown): RefusedRow {
  if (error instanceof AppError && (error.code === 'validation' || error.code === 'notFound')) {
    const reason = error.code === 'validation' ? joinErrors(error.errors) : error.message;
    return { outcome: 'refused', reason };
  }
  throw error;
}

/** Finds the rows that are stored already or refused, and by their index the drafts to create and to update. */
export async function compareImport(
  tx: Sql,
  inputs: readonly CheeseInput[],
  seen: SeenCheeses,
  givenFields: GivenFields,
) {
  const outcomes: (ImportOutcome | undefined)[] = [];
  const drafts = new Map<number, Draft>();
  for (const [index, input] of inputs.entries()) {
    try {
      drafts.set(index, await inputToDraft(tx, input));
    } catch (error) {
      outcomes[index] = refusedRow(error);
    }
  }
  const rows = await findStored(tx, drafts.values());
  const existing = new Map(rows.map((row) => [uniqueKey(row.category_name, row.name_key), row]));
  const newDrafts = new Map<number, Draft>();
  const changes = new Map<number, { readonly id: number; readonly before: string; readonly draft: Draft }>();
  const keys = new Set<string>();
  for (const [index, draft] of drafts) {
    const key = uniqueKey(draft.category, draft.name);
    const row = existing.get(key);
    if (keys.has(key) || seen.has(key) || (row !== undefined && seen.has(row.id))) {
      outcomes[index] = {
        outcome: 'refused',
        reason: 'a row before this one has the same name in the same category',
      };
      continue;
    }
    keys.add(key);
    if (row === undefined) {
      newDrafts.set(index, draft);
      continue;
    }
    // The cheese was found by its name, and keeps its spelling.
    const fields = givenFields?.[index]?.filter((field) => field !== 'name');
    const wanted =
      fields === undefined ? draft : applyPatch(cheeseToDraft(parseCheese(row.body)), fields, draft);
    const differing = differingFields(row, wanted);
    if (differing.length === 0) {
      outcomes[index] = { outcome: 'unchanged', id: row.id, body: row.body };
    } else if (fields === undefined) {
      outcomes[index] = {
        outcome: 'refused',
        reason: `cheese ${row.id} has this name in this category and differs in ${differing.join(', ')}`,
      };
    } else {
      changes.set(index, { id: row.id, before: row.body, draft: wanted });
    }
  }
  return { outcomes, newDrafts, changes };
}

/** Stored cheeses that equal one of the inputs in everything but photoUrls. */
export async function findSameCheeses(tx: Sql, inputs: readonly CheeseInput[]): Promise<Versioned[]> {
  const drafts = new Map<string, Draft>();
  for (const input of inputs) {
    const draft = await inputToDraft(tx, input);
    drafts.set(uniqueKey(draft.category, draft.name), draft);
  }
  const rows = await findStored(tx, drafts.values());
  return rows.filter((row) => {
    const draft = drafts.get(uniqueKey(row.category_name, row.name_key));
    return draft !== undefined && differingFields(row, draft).every((field) => field === 'photoUrls');
  });
}

/** The stored cheeses with the categories and names of drafts. */
function findStored(tx: Sql, drafts: Iterable<Draft>) {
  return cheeseQueries(tx).findByNames(
    Array.from(drafts, ({ category, name }) => ({
      category: category === null ? null : nameKey(category),
      key: nameKey(name),
    })),
  );
}

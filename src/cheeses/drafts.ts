/** Drafts: cheeses without what the server supplies, with names of categories and tags instead of ids. */
import { ConstraintError, type Sql } from '../database/database.ts';
import { AppError, requireNoErrors } from '../errors.ts';
import type { EventData } from '../event-log/define.ts';
import { nameKey } from '../schema/folding.ts';
import type { cheeseEvents } from './event-types.ts';
import { type CheeseField, fieldEntries, fieldNames, isPresent } from './fields.ts';
import { checkPortions } from './portions.ts';
import { type CheeseRow, cheeseQueries, type Term } from './queries.ts';
import { type Cheese, type CheeseInput, type CheeseMergePatch, parseCheese } from './schemas.ts';

/** What a write needs to know of a cheese, and what two cheeses are compared by. */
export type Draft = Omit<Cheese, 'id' | 'category' | 'tags' | 'createdAt' | 'updatedAt'> & {
  readonly category: string | null;
  readonly tags: readonly string[];
};

/** Equal for two cheeses that the unique index does not accept together. */
export function uniqueKey(category: string | null, name: string): string {
  return JSON.stringify([category === null ? null : nameKey(category), nameKey(name)]);
}

/** Names without those that equal an earlier one. */
export function distinctNames(names: readonly string[]): string[] {
  const distinct = new Map<string, string>();
  for (const name of names) {
    const key = nameKey(name);
    distinct.set(key, distinct.get(key) ?? name);
  }
  return [...distinct.values()];
}

/** Runs a transaction with a statement that the unique index may refuse. @throws AppError conflict */
export async function throwConflict<T>(transaction: () => Promise<T>): Promise<T> {
  try {
    return await transaction();
  } catch (error) {
    // The other unique index is the primary key, and the catalogue assigns each id once.
    throw error instanceof ConstraintError
      ? new AppError('conflict', 'A cheese with this name already exists in the category.', {
          cause: error,
          errors: [{ field: 'name', message: 'belongs to another cheese of the category' }],
        })
      : error;
  }
}

/** Names of the fields in which a stored cheese and a draft differ. */
export function differingFields(row: CheeseRow, draft: Draft): CheeseField[] {
  const known = comparable(cheeseToDraft(parseCheese(row.body)));
  const wanted = comparable(draft);
  return fieldNames.filter((field) => JSON.stringify(known[field]) !== JSON.stringify(wanted[field]));
}

/** Another spelling of a name is no difference. */
function comparable(draft: Draft): Draft {
  const { name, category, tags } = draft;
  return {
    ...draft,
    name: nameKey(name),
    category: category === null ? null : nameKey(category),
    tags: tags.map(nameKey),
  };
}

/** The draft that leads to a stored cheese. */
export function cheeseToDraft({
  category,
  tags,
  id: _,
  createdAt: _created,
  updatedAt: _updated,
  ...rest
}: Cheese): Draft {
  return { ...rest, category: category?.name ?? null, tags: tags.map(({ name }) => name) };
}

/** Adds defaults to an input and replaces ids of its category and tags by names. @throws AppError validation */
export async function inputToDraft(tx: Sql, input: CheeseInput): Promise<Draft> {
  const references = [input.category, ...(input.tags ?? [])].flatMap((reference) =>
    reference?.name === undefined && reference?.id !== undefined ? [reference.id] : [],
  );
  const names = new Map<string, string>();
  // A number beyond 2^53 was rounded, and no id is that large.
  const ids = references.filter(Number.isSafeInteger);
  if (ids.length > 0) {
    for (const { id, kind, name } of await cheeseQueries(tx).findTermsById(ids)) {
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

  const category = input.category === undefined ? null : nameOf('category', input.category, 'category');
  const tags = (input.tags ?? []).map((tag, index) => nameOf('tag', tag, `tags[${index}]`));
  checkPortions(errors, 'portions', input.portions ?? []);
  requireNoErrors(errors);
  return { ...givenOrDefault(input), category, tags: distinctNames(tags) } as Draft;
}

/** The values of all fields. A cheese does not have an optional field that is an empty list. */
function givenOrDefault(input: CheeseInput): Partial<Record<CheeseField, unknown>> {
  const values: Partial<Record<CheeseField, unknown>> = {};
  for (const [name, field] of fieldEntries) {
    const value = input[name] ?? field.default;
    if (value !== undefined && (isPresent(field) || !Array.isArray(value) || value.length > 0)) {
      values[name] = value;
    }
  }
  return values;
}

/** The category and tags of a draft. */
export function listTerms({ category, tags }: Draft): Term[] {
  const found: Term[] = category === null ? [] : [['category', category]];
  return [...found, ...tags.map((name): Term => ['tag', name])];
}

/** The cheese that responses contain, with its members in their documented order. */
export function toCheese(
  draft: Draft,
  find: (term: Term) => { readonly id: number; readonly name: string },
  { id, createdAt, updatedAt }: Pick<Cheese, 'id' | 'createdAt' | 'updatedAt'>,
): Cheese {
  const values = {
    ...draft,
    category: draft.category === null ? undefined : find(['category', draft.category]),
    tags: draft.tags.map((name) => find(['tag', name])),
  };
  const present = fieldNames.filter((field) => values[field] !== undefined);
  const members = Object.fromEntries(present.map((field) => [field, values[field]]));
  return { id, ...members, createdAt, updatedAt } as Cheese;
}

/** The input whose draft has the values of the patch. A removed field has its default there. */
export function patchToInput(patch: CheeseMergePatch): CheeseInput {
  const given = Object.entries(patch).filter(([, value]) => value !== null);
  return { name: '', ...Object.fromEntries(given) };
}

/**
 * The draft with these fields of other values. A category is replaced as a whole: merged with the current one, a new
 * id would be ignored beside the old name.
 */
export function applyPatch(current: Draft, fields: readonly CheeseField[], values: Draft): Draft {
  const draft: Partial<Record<CheeseField, unknown>> = { ...current };
  for (const field of fields) {
    if (values[field] === undefined) {
      delete draft[field];
    } else {
      draft[field] = values[field];
    }
  }
  return draft as Draft;
}

export type CheeseUpdated = EventData<typeof cheeseEvents.updated>;

/**
 * Data of the event `cheese.updated`: the fields that differ. `updatedAt` is left out: every update changes it, and it is
 * the time of the event.
 */
export function cheeseUpdated(before: Cheese, after: Cheese): CheeseUpdated {
  const [from, to] = [cheeseToDraft(before), cheeseToDraft(after)];
  const changes: Partial<Record<CheeseField, unknown>> = {};
  for (const field of fieldNames) {
    const change = { from: from[field] ?? null, to: to[field] ?? null };
    if (JSON.stringify(change.from) !== JSON.stringify(change.to)) {
      changes[field] = change;
    }
  }
  return { id: after.id, name: after.name, changes: changes as CheeseUpdated['changes'] };
}

/** Drafts: cheeses without what the server supplies, with names of categories and tags instead of ids. */
import { ConstraintError, type Sql } from '../database/database.ts';
import { AppError, requireNoErrors } from '../errors.ts';
import type { EventData } from '../event-log/define.ts';
import { nameKey } from '../schema/folding.ts';
import type { cheeseEvents } from './event-types.ts';
import { checkPortions } from './portions.ts';
import { type CheeseRow, cheeseQueries, type Term } from './queries.ts';
import { type Cheese, type CheeseInput, type CheeseMergePatch, parseCheese } from './schemas.ts';

/** What a write needs to know of a cheese, and what two cheeses are compared by. */
export type Draft = Omit<Cheese, 'id' | 'category' | 'tags' | 'createdAt' | 'updatedAt'> & {
  readonly categoryName: string | null;
  readonly tagNames: readonly string[];
};

/** Equal for two cheeses that the unique index does not accept together. */
export function uniqueKey(categoryName: string | null, name: string): string {
  return JSON.stringify([categoryName === null ? null : nameKey(categoryName), nameKey(name)]);
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
export function differingFields(row: CheeseRow, draft: Draft): string[] {
  const known = comparable(cheeseToDraft(parseCheese(row.body)));
  const wanted = comparable(draft);
  return Object.keys({ ...known, ...wanted }).filter(
    (key) => JSON.stringify(known[key as keyof Draft]) !== JSON.stringify(wanted[key as keyof Draft]),
  );
}

/** Another spelling of a name is no difference. */
function comparable(draft: Draft): Draft {
  const { name, categoryName, tagNames } = draft;
  const category = categoryName === null ? null : nameKey(categoryName);
  return { ...draft, name: nameKey(name), categoryName: category, tagNames: tagNames.map(nameKey) };
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
  return { ...rest, categoryName: category?.name ?? null, tagNames: tags.map(({ name }) => name) };
}

/** Adds defaults to an input and replaces ids of its category and tags by names. @throws AppError validation */
export async function inputToDraft(tx: Sql, input: CheeseInput): Promise<Draft> {
  const references = [input.category, ...(input.tags ?? [])].flatMap((one) =>
    one?.name === undefined && one?.id !== undefined ? [one.id] : [],
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

  const categoryName = input.category === undefined ? null : nameOf('category', input.category, 'category');
  const tagNames = (input.tags ?? []).map((tag, index) => nameOf('tag', tag, `tags[${index}]`));
  checkPortions(errors, 'portions', input.portions ?? []);
  requireNoErrors(errors);
  return withoutUndefined<Draft>({
    name: input.name,
    photoUrls: input.photoUrls ?? [],
    status: input.status ?? 'available',
    origin: input.origin ?? null,
    pricePerKg: input.pricePerKg,
    ageMonths: input.ageMonths,
    organic: input.organic ?? false,
    portions: input.portions?.length ? input.portions : undefined,
    categoryName,
    tagNames: distinctNames(tagNames),
  });
}

/** The compiler requires every key, so that no new field is forgotten. Those that are undefined are left out. */
function withoutUndefined<T>(all: { readonly [K in keyof Required<T>]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as T;
}

/** The category and tags of a draft. */
export function termsOf({ categoryName, tagNames }: Draft): Term[] {
  const category: Term[] = categoryName === null ? [] : [['category', categoryName]];
  return [...category, ...tagNames.map((name): Term => ['tag', name])];
}

/** The cheese that responses contain, with its members in their documented order. */
export function toCheese(
  draft: Draft,
  find: (term: Term) => { readonly id: number; readonly name: string },
  supplied: Pick<Cheese, 'id' | 'createdAt' | 'updatedAt'>,
): Cheese {
  const { categoryName, tagNames } = draft;
  return withoutUndefined<Cheese>({
    id: supplied.id,
    name: draft.name,
    category: categoryName === null ? undefined : find(['category', categoryName]),
    photoUrls: draft.photoUrls,
    tags: tagNames.map((name) => find(['tag', name])),
    status: draft.status,
    origin: draft.origin,
    pricePerKg: draft.pricePerKg,
    ageMonths: draft.ageMonths,
    organic: draft.organic,
    portions: draft.portions,
    createdAt: supplied.createdAt,
    updatedAt: supplied.updatedAt,
  });
}

/** Drafts name two fields differently. */
const draftKeys: Readonly<Record<string, keyof Draft>> = { category: 'categoryName', tags: 'tagNames' };

/** The input whose draft has the values of the patch. A removed field has its default there. */
export function patchToInput(patch: CheeseMergePatch): CheeseInput {
  const given = Object.entries(patch).filter(([, value]) => value !== null);
  return { name: '', ...Object.fromEntries(given) };
}

/**
 * The draft with these fields of other values. A category is replaced as a whole: merged with the current one, a new
 * id would be ignored beside the old name.
 */
export function applyPatch(current: Draft, fields: readonly string[], values: Draft): Draft {
  const draft: Record<string, unknown> = { ...current };
  for (const field of fields) {
    const key = draftKeys[field] ?? (field as keyof Draft);
    if (values[key] === undefined) {
      delete draft[key];
    } else {
      draft[key] = values[key];
    }
  }
  return draft as unknown as Draft;
}

export type CheeseUpdated = EventData<typeof cheeseEvents.updated>;

/**
 * Data of the event `cheese.updated`: the fields that differ. `updatedAt` is left out: every update changes it, and it is
 * the time of the event.
 */
export function cheeseUpdated(before: Cheese, after: Cheese): CheeseUpdated {
  const [from, to] = [valuesOf(before), valuesOf(after)];
  const changes: Record<string, unknown> = {};
  for (const field of Object.keys({ ...to, ...from })) {
    const change = { from: from[field] ?? null, to: to[field] ?? null };
    if (JSON.stringify(change.from) !== JSON.stringify(change.to)) {
      changes[field] = change;
    }
  }
  return { id: after.id, name: after.name, changes: changes as CheeseUpdated['changes'] };
}

function valuesOf({ updatedAt: _, category, tags, ...rest }: Cheese): Readonly<Record<string, unknown>> {
  return { ...rest, category: category?.name, tags: tags.map(({ name }) => name) };
}

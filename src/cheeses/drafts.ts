/** Drafts: cheeses without what the server supplies, with names of categories and tags instead of ids. */
import { ConstraintError, type Sql } from '../database/database.ts';
import { AppError, validationError } from '../errors.ts';
import { type CheeseRow, cheeseQueries, type Term } from './queries.ts';
import { type Cheese, type CheeseInput, parseCheese } from './schemas.ts';

/** What a write needs to know of a cheese, and what two cheeses are compared by. */
export type Draft = Omit<Cheese, 'id' | 'category' | 'tags' | 'createdAt' | 'updatedAt'> & {
  readonly categoryName: string | null;
  readonly tagNames: readonly string[];
};

/** Equal for two cheeses that the unique index does not accept together. */
export function uniqueKey(categoryName: string | null, name: string): string {
  return JSON.stringify([categoryName, name.normalize('NFC')]);
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
  const known = cheeseToDraft(parseCheese(row.body));
  return Object.keys({ ...known, ...draft }).filter(
    (key) => JSON.stringify(known[key as keyof Draft]) !== JSON.stringify(draft[key as keyof Draft]),
  );
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

/** The category and tags of a draft. */
export function termsOf({ categoryName, tagNames }: Draft): Term[] {
  const category: Term[] = categoryName === null ? [] : [['category', categoryName]];
  return [...category, ...tagNames.map((name): Term => ['tag', name])];
}

/** The cheese that responses contain, with its members in their documented order. */
export function toCheese(
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

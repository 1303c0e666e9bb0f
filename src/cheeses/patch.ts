/** Merge patches of a cheese (RFC 7396): a member replaces its field, and null removes it. */
import type { Draft } from './drafts.ts';
import type { CheeseInput, CheeseMergePatch } from './schemas.ts';

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

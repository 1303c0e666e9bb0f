/**
 * What a person has written in a form and not saved, in memory. It survives a change of the screen and the lock of the
 * page, and is there again for the same person.
 */

const drafts = new Map<string, unknown>();
let owner: string | null = null;

/** @returns null if nothing was written */
export function readDraft<Draft>(key: string): Draft | null {
  return (drafts.get(key) as Draft | undefined) ?? null;
}

/** @param draft null deletes it */
export function keepDraft(key: string, draft: unknown): void {
  if (draft === null) {
    drafts.delete(key);
  } else {
    drafts.set(key, draft);
  }
}

/** Deletes the drafts of everybody else. */
export function keepDraftsOf(person: string | null): void {
  if (person !== owner) {
    drafts.clear();
    owner = person;
  }
}

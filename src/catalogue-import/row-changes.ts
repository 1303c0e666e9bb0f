/** What a row changes of a cheese that exists, for the report of an import. */

import { cheeseUpdated } from '../cheeses/drafts.ts';
import type { ImportOutcome } from '../cheeses/import-comparison.ts';
import { type Portion, portionsText } from '../cheeses/portions.ts';
import { parseCheese } from '../cheeses/schemas.ts';

/** A value in a report: lists are text. */
type Shown = string | number | boolean | null;

/** The old and the new value of each changed field. */
export type RowChanges = Readonly<Record<string, { readonly from: Shown; readonly to: Shown }>>;

/** Longest text in a report: a cheese can have 100 photoUrls of 2048 characters. */
export const shownTextMax = 200;

/** The changed fields of an updated cheese. */
export function toRowChanges({ before, body }: Extract<ImportOutcome, { outcome: 'updated' }>): RowChanges {
  const { changes } = cheeseUpdated(parseCheese(before), parseCheese(body));
  return Object.fromEntries(
    Object.entries(changes).map(([field, { from, to }]) => [field, { from: shown(from), to: shown(to) }]),
  );
}

function shown(value: Shown | readonly string[] | readonly Portion[]): Shown {
  if (typeof value !== 'object' && typeof value !== 'string') {
    return value;
  }
  return value === null || value.length === 0
    ? null
    : cut(typeof value === 'string' ? value : listText(value));
}

const listText = (values: readonly string[] | readonly Portion[]) =>
  typeof values[0] === 'object' ? portionsText(values as readonly Portion[]) : values.join(', ');

/** Cuts a text to the length that a report shows. */
export function cut(text: string): string {
  return text.length > shownTextMax ? `${text.slice(0, shownTextMax - 3).toWellFormed()}...` : text;
}

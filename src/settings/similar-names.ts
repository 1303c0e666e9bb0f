/** Names that a misspelled name may stand for. */

/** Edits of one character that turn a misspelled name into the intended one. */
const editsMax = 2;

/** The names that begin with the given one, or differ from it by up to two characters: the nearest ones. */
export function similarNames(name: string, names: readonly string[]): string[] {
  const near = names.map((candidate) => ({ candidate, edits: editDistance(name, candidate) }));
  const least = Math.min(editsMax, ...near.map(({ edits }) => edits));
  const nearest = near.filter(({ edits }) => edits === least).map(({ candidate }) => candidate);
  return nearest.length > 0 ? nearest : names.filter((candidate) => candidate.startsWith(name));
}

/** The Levenshtein distance: the fewest insertions, deletions and replacements of one character. */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = at(row, column) + (character === other ? 0 : 1);
      next.push(Math.min(replaced, at(row, column + 1) + 1, at(next, column) + 1));
    }
    row = next;
  }
  return at(row, to.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? 0;

/** Data of the event `cheese.updated`. It contains changed fields only, because a cheese can have 100 long photoUrls. */
import type { Cheese } from './schemas.ts';

interface Change {
  readonly from: unknown;
  readonly to: unknown;
}

/** The data of the event `cheese.updated`. */
export interface CheeseUpdated {
  readonly id: number;
  readonly name: string;
  /** Changes by field. Categories and tags are given by name, and null means that the cheese has no such field. */
  readonly changes: Readonly<Record<string, Change>>;
}

/** `updatedAt` is left out: every update changes it, and it is the time of the event. */
export function cheeseUpdated(before: Cheese, after: Cheese): CheeseUpdated {
  const [from, to] = [valuesOf(before), valuesOf(after)];
  const changes: Record<string, Change> = {};
  for (const field of Object.keys({ ...to, ...from })) {
    const change = { from: from[field] ?? null, to: to[field] ?? null };
    if (JSON.stringify(change.from) !== JSON.stringify(change.to)) {
      changes[field] = change;
    }
  }
  return { id: after.id, name: after.name, changes };
}

function valuesOf({ updatedAt: _, category, tags, ...rest }: Cheese): Readonly<Record<string, unknown>> {
  return { ...rest, category: category?.name, tags: tags.map(({ name }) => name) };
}

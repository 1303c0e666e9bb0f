/** Data of the event `cheese.updated`. It contains changed fields only, because a cheese can have 100 long photoUrls. */
import type { EventData } from '../event-log/define.ts';
import type { cheeseEvents } from './event-types.ts';
import type { Cheese } from './schemas.ts';

type Updated = EventData<typeof cheeseEvents.updated>;
type Changes = Updated['changes'];

/** `updatedAt` is left out: every update changes it, and it is the time of the event. */
export function cheeseUpdated(before: Cheese, after: Cheese): Updated {
  const [from, to] = [valuesOf(before), valuesOf(after)];
  const changes: Record<string, unknown> = {};
  for (const field of Object.keys({ ...to, ...from })) {
    const change = { from: from[field] ?? null, to: to[field] ?? null };
    if (JSON.stringify(change.from) !== JSON.stringify(change.to)) {
      changes[field] = change;
    }
  }
  return { id: after.id, name: after.name, changes: changes as Changes };
}

function valuesOf({ updatedAt: _, category, tags, ...rest }: Cheese): Readonly<Record<string, unknown>> {
  return { ...rest, category: category?.name, tags: tags.map(({ name }) => name) };
}

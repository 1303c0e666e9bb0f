/** The tags that events make stale. */
import { catalogueTag, categoryTag, cheeseTag } from '../cheeses/cache-tags.ts';
import { parseCheese } from '../cheeses/schemas.ts';
import type { CheeseService } from '../cheeses/service.ts';
import type { EventFilter } from '../event-log/reading/event-filter.ts';
import type { EventItem } from '../event-log/reading/log-reader.ts';
import { everythingTag } from '../http/responses/public-response.ts';
import { profileTag } from '../shop/routes.ts';

/** Events after which a cached response can be stale. */
export const staleFilter: EventFilter = {
  types: ['cheese.*', 'shop.reset', 'shop.changed'],
  subject: null,
  isAdmin: true,
};

/** What this needs of the data of events. */
interface CheeseEvent {
  readonly type: string;
  readonly data: {
    readonly category?: { readonly id: number };
    readonly changes?: {
      readonly category?: { readonly from: string | null; readonly to: string | null };
    };
  };
}

/**
 * The category of an updated cheese is that of now, and those that its events name. Between two events it had the
 * category that the later one names, so that tag is purged with the later one at the latest.
 */
export async function changedTags(
  events: readonly Pick<EventItem, 'subject' | 'text'>[],
  cheeses: Pick<CheeseService, 'findIfThere' | 'findCategoryIds'>,
): Promise<Set<string>> {
  const tags = new Set<string>();
  const updated = new Set<number>();
  const names = new Set<string>();
  for (const { subject, text } of events) {
    const { type, data } = JSON.parse(text) as CheeseEvent;
    if (type === 'shop.reset') {
      tags.add(everythingTag);
      continue;
    }
    if (type === 'shop.changed') {
      tags.add(profileTag);
      continue;
    }
    const id = Number(subject.slice('cheese:'.length));
    tags.add(catalogueTag).add(cheeseTag(id));
    if (data.category !== undefined) {
      tags.add(categoryTag(data.category.id));
    }
    if (type === 'cheese.updated') {
      updated.add(id);
      const { from = null, to = null } = data.changes?.category ?? {};
      for (const name of [from, to]) {
        if (name !== null) {
          names.add(name);
        }
      }
    }
  }
  const rows = await Promise.all([...updated].map((id) => cheeses.findIfThere(id)));
  const current = rows.flatMap((row) =>
    row === undefined ? [] : (parseCheese(row.body).category?.id ?? []),
  );
  for (const id of [...current, ...(await cheeses.findCategoryIds([...names]))]) {
    tags.add(categoryTag(id));
  }
  return tags;
}

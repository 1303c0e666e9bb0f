/**
 * Cache tags: the names by which a cache finds the responses that a change of a cheese makes stale. A response has all
 * tags of what it depends on, and a change purges all tags of what it touches.
 */

/** Tag of responses that any change of a cheese can change. */
export const catalogueTag = 'catalogue';

export const cheeseTag = (id: number) => `cheese-${id}`;

/** Tag of lists that only cheeses of a category can change. */
export const categoryTag = (id: number) => `category-${id}`;

/** The tags of a list. @param categoryId if the list depends on the cheeses of this category alone */
export function tagsOfList(cheeseIds: readonly number[] = [], categoryId?: number): string[] {
  const scope = categoryId === undefined ? catalogueTag : categoryTag(categoryId);
  return [scope, ...cheeseIds.map(cheeseTag)];
}

/** What a person changes in a form, beside what others change meanwhile. */

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The edits that differ from what is stored. */
export function changedValues<V extends object>(edits: Partial<V>, stored: V): Partial<V> {
  const changed = Object.entries(edits).filter(([name, value]) => !isSame(value, stored[name as keyof V]));
  return Object.fromEntries(changed) as Partial<V>;
}

/** The changed fields that another person has changed, too, to another value. */
export function contestedNames<V extends object>(changes: Partial<V>, before: V, now: V): (keyof V)[] {
  return (Object.keys(changes) as (keyof V)[]).filter(
    (name) => !isSame(now[name], before[name]) && !isSame(now[name], changes[name]),
  );
}

/** Named views of lists, kept in the browser: a name for what the URL of a list says: filters, sort and columns. */

export interface View {
  readonly name: string;
  /** The query of the URL. */
  readonly search: string;
}

const storageKey = 'curd.console.views';
export const viewsMax = 30;
export const viewNameMax = 60;
const searchMax = 2000;

function readAll(): Record<string, unknown> {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey) ?? '{}');
    return typeof stored === 'object' && stored !== null ? stored : {};
  } catch {
    return {};
  }
}

function isView(value: unknown): value is View {
  const { name, search } = (value ?? {}) as Partial<View>;
  return typeof name === 'string' && typeof search === 'string' && search.length <= searchMax;
}

/** @param list its label: "Orders" */
export function readViews(list: string): readonly View[] {
  const views = readAll()[list];
  return Array.isArray(views) ? views.filter(isView).slice(0, viewsMax) : [];
}

export function storeViews(list: string, views: readonly View[]): void {
  localStorage.setItem(storageKey, JSON.stringify({ ...readAll(), [list]: views }));
}

/** Adds a view at the end, or replaces the one of its name. */
export function withView(views: readonly View[], view: View): readonly View[] {
  const index = views.findIndex(({ name }) => name === view.name);
  return index < 0 ? [...views, view] : views.with(index, view);
}

/** What a URL says about a list, in the same form for the same list. Not the place in it. */
export function searchOfView(search: URLSearchParams, hidden: readonly string[]): string {
  const params = new URLSearchParams(search);
  params.delete('at');
  params.set('hide', hidden.join(','));
  params.sort();
  return params.toString();
}

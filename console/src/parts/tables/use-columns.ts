/** Which columns of a list are shown. The URL says it, or else the last choice, which the browser keeps for each list. */
import { useMemo } from 'react';
import { useSearchParams } from 'wouter';
import type { Column } from './table-row.tsx';

const storageKey = 'curd.console.columns';

type Hidden = Readonly<Record<string, readonly string[]>>;

function readHidden(): Hidden {
  try {
    return (JSON.parse(localStorage.getItem(storageKey) ?? '{}') ?? {}) as Hidden;
  } catch {
    return {};
  }
}

/** The titles of the columns that are not shown. @param list its label: "Orders" */
export function useHiddenColumns(list: string) {
  const [search, setSearch] = useSearchParams();
  const named = search.get('hide');
  const hidden = useMemo(
    () => (named === null ? (readHidden()[list] ?? []) : named.split(',').filter(Boolean)),
    [named, list],
  );
  function setHidden(next: readonly string[]): void {
    localStorage.setItem(storageKey, JSON.stringify({ ...readHidden(), [list]: next }));
    setSearch(
      (old) => {
        const params = new URLSearchParams(old);
        params.set('hide', next.join(','));
        return params;
      },
      { replace: true },
    );
  }
  return { hidden, setHidden };
}

/** @param list its label: "Orders" */
export function useColumns<Row>(list: string, columns: readonly Column<Row>[]) {
  const { hidden, setHidden } = useHiddenColumns(list);
  const [first] = columns;
  const shown = useMemo(
    () => columns.filter((column) => column === first || !hidden.includes(column.title)),
    [columns, first, hidden],
  );
  function toggle(title: string): void {
    setHidden(hidden.includes(title) ? hidden.filter((other) => other !== title) : [...hidden, title]);
  }
  return { shown, toggle };
}

/**
 * The place of a person on a screen: how far it is scrolled, the current row, and the selected rows. It is kept in the
 * entry of the browser's history, so that a person who comes back finds the same place.
 */
import { useEffect, useState } from 'react';
import { useSearch } from 'wouter';

interface Place {
  readonly scroll?: number;
  readonly row?: number | string;
  readonly selected?: readonly (number | string)[];
}

const restMs = 100;

const placeOf = (): Place => (window.history.state as Place | null) ?? {};

function keep(changes: Place): void {
  window.history.replaceState({ ...placeOf(), ...changes }, '');
}

/** The row that was selected when this entry of the history was left. */
export const selectedRow = (): number | string | null => placeOf().row ?? null;

export function keepSelectedRow(row: number | string): void {
  keep({ row });
}

/** Rows that are selected for an action. */
export function useSelection<Key extends number | string>() {
  const [selected, setSelected] = useState<ReadonlySet<Key>>(() => new Set(placeOf().selected as Key[]));
  const search = useSearch();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another URL is another entry of the history.
  useEffect(() => keep({ selected: [...selected] }), [selected, search]);
  return [selected, setSelected] as const;
}

/** A new screen begins at its top; one that a person returns to, where it was. */
export function useScrollPlace(path: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each path.
  useEffect(() => {
    window.scrollTo(0, placeOf().scroll ?? 0);
  }, [path]);

  useEffect(() => {
    window.history.scrollRestoration = 'manual';
    let timer: number | undefined;
    const onScroll = () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => keep({ scroll: Math.round(window.scrollY) }), restMs);
    };
    window.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      window.clearTimeout(timer);
      window.removeEventListener('scroll', onScroll);
    };
  }, []);
}

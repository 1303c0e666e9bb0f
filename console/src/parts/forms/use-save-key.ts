import { useEffect, useRef } from 'react';

/** Ctrl S saves, also while somebody types, and not the page of the browser. */
export function useSaveKey(save: () => void): void {
  const current = useRef(save);
  current.current = save;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 's') {
        event.preventDefault();
        current.current();
      }
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

/** The browser asks before it closes a page with unsaved changes. */
export function useUnsavedWarning(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) {
      return;
    }
    const onLeave = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', onLeave);
    return () => window.removeEventListener('beforeunload', onLeave);
  }, [isChanged]);
}

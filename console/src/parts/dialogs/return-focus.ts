/**
 * Moves the focus when a dialog, or another part that had the focus, is gone (WCAG 2.4.3). Mantine does so only if a
 * dialog stays mounted while it is closed.
 */
import { useEffect, useState } from 'react';

/** What had the focus before, and for a dialog in a dialog what had it before that one. */
export interface Opener {
  readonly element: Element | null;
  readonly before: Opener | null;
}

let newest: Opener | null = null;

/** A button loses the focus while it is disabled, as long as what it began is under way. */
let lastFocused: Element | null = null;
document.addEventListener('focusin', ({ target }) => {
  lastFocused = target instanceof Element ? target : null;
});

/** Call it before the focus moves. */
function noteOpener(): Opener {
  const { activeElement, body } = document;
  const element = activeElement === body ? lastFocused : activeElement;
  const isInDialog = element?.closest('[role=dialog]') != null;
  newest = { element, before: isInDialog ? newest : null };
  return newest;
}

/** Moves the focus to what had it before, unless it is somewhere already. If that is gone: to the heading. */
export function returnFocus(opener: Opener): void {
  const hasFocus = () => document.activeElement !== null && document.activeElement !== document.body;
  // Nothing had it.
  if (hasFocus() || opener.element === null) {
    return;
  }
  for (let one: Opener | null = opener; one !== null && !hasFocus(); one = one.before) {
    if (one.element instanceof HTMLElement && one.element.isConnected) {
      one.element.focus();
    }
  }
  const heading = document.querySelector<HTMLElement>('h1');
  if (!hasFocus() && heading !== null) {
    heading.tabIndex = -1;
    heading.focus();
  }
}

/** Returns the focus when a component that takes it is unmounted. */
export function useReturnFocus(): void {
  const [opener] = useState(noteOpener);
  // Later, because what is mounted in its place may take the focus.
  useEffect(() => () => void window.setTimeout(returnFocus, 0, opener), [opener]);
}

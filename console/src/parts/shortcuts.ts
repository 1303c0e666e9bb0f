/** Keyboard shortcuts of the whole page and of screens. They are ignored while somebody types. */
import { useEffect, useLayoutEffect, useRef } from 'react';
import { navigate } from 'wouter/use-browser-location';
import type { Screen } from './screen.ts';

/** Shown in the list of shortcuts, beside those of the navigation. */
export const shortcutHelp: readonly (readonly [keys: string, text: string])[] = [
  ['Ctrl K', 'Search and do'],
  ['/', 'Search this screen'],
  ['j, k', 'Next and previous in a list'],
  ['Enter', 'Open'],
  ['Space', 'Select'],
  ['A', 'Select all, or nothing'],
  ['Ctrl S', 'Save'],
  ['a s d x', 'Approve, ship, deliver or cancel an order'],
  ['p t', 'Packing slips, and shipping with tracking numbers, of the selected orders'],
  ['n', 'New order'],
  ['v', 'Orders as a board or as a list'],
  ['1 2 3', 'Make a cheese available, pending or sold'],
  ['u', 'Undo, for ten seconds'],
  ['?', 'This list'],
];

/** How long the second key may come after `g`. */
const sequenceMs = 1500;

type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>;

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      ['TEXTAREA', 'SELECT'].includes(target.tagName) ||
      (target instanceof HTMLInputElement && !['checkbox', 'radio'].includes(target.type)))
  );
}

/** Keys that the element with the focus uses are for it, not for the list around it. */
function isForControl({ key, target }: KeyboardEvent): boolean {
  const isUsed = key === 'Enter' || key === ' ' || key.startsWith('Arrow');
  const controls = 'button, summary, input, [role=button], [role=tab], [role=option], [role=menuitem]';
  // A link is not pressed by Space.
  const selector = key === 'Enter' ? `${controls}, a` : controls;
  return isUsed && target instanceof Element && target.closest(selector) !== null;
}

/** Keys that may be kept down. A key that changes something is pressed for each change. */
const movingKeys = ['j', 'k', 'ArrowLeft', 'ArrowRight'];

/** Handlers by `KeyboardEvent.key`, while the component is shown and no dialog is open. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const current = useRef(shortcuts);
  // A key acts on what is shown, not on a rendering that is still under way.
  useLayoutEffect(() => {
    current.current = shortcuts;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isOnce = !event.repeat || movingKeys.includes(event.key);
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
      const isDialogOpen = document.querySelector('[role=dialog]') !== null;
      const handler = current.current[event.key];
      const isOurs = isPlain && !isDialogOpen && !isTyping(event.target) && !isForControl(event);
      if (handler !== undefined && isOurs && !isInSequence()) {
        event.preventDefault();
        if (isOnce) {
          handler(event);
        }
      }
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

let sequenceBegun = Number.NEGATIVE_INFINITY;
const isInSequence = () => performance.now() - sequenceBegun < sequenceMs;

/** `g` and the key of a screen open it; `/` moves to the search of the screen. */
export function installNavigationKeys(screens: readonly Screen[]): void {
  window.addEventListener(
    'keydown',
    (event) => {
      const isDialogOpen = document.querySelector('[role=dialog]') !== null;
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isDialogOpen) {
        return;
      }
      const screen = isInSequence() ? screens.find(({ key }) => key === event.key) : undefined;
      if (screen !== undefined) {
        event.preventDefault();
        event.stopImmediatePropagation();
        navigate(`/console/${screen.path}`);
      }
      sequenceBegun = event.key === 'g' ? performance.now() : Number.NEGATIVE_INFINITY;
      if (event.key === '/') {
        const search = document.querySelector<HTMLInputElement>('[data-screen-search]');
        if (search !== null) {
          event.preventDefault();
          search.focus();
        }
      }
    },
    { capture: true },
  );
}

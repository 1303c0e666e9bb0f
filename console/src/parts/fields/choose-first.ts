/** Enter in a field with options. */
import type { KeyboardEvent } from 'react';

/** Enter chooses the first option that is shown, if the arrow keys have chosen none: it may have been read just now. */
export function chooseFirst(event: KeyboardEvent<HTMLInputElement>): void {
  const list = document.getElementById(event.currentTarget.getAttribute('aria-controls') ?? '');
  if (event.key === 'Enter' && list !== null && list.querySelector('[data-combobox-selected]') === null) {
    event.preventDefault();
    list.querySelector<HTMLElement>('[data-combobox-option]')?.click();
  }
}

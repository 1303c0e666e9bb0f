/** Notices that a page is not used. */

const idleMs = 30 * 60_000;

/** Calls a function after 30 minutes without input. */
export function watchInput(onIdle: () => void): void {
  let lastInput = Date.now();
  let timer: number | undefined;

  function restart(): void {
    // A computer that slept may not have run the timer yet.
    if (Date.now() - lastInput >= idleMs) {
      onIdle();
    }
    lastInput = Date.now();
    window.clearTimeout(timer);
    timer = window.setTimeout(onIdle, idleMs);
  }

  for (const type of ['pointerdown', 'keydown', 'scroll']) {
    window.addEventListener(type, restart, { passive: true, capture: true });
  }
  restart();
}

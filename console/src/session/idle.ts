/** Notices that a page is not used. */

const idleMs = 30 * 60_000;

/**
 * Calls a function after 30 minutes without input.
 * @returns begins the 30 minutes again, for a sign-in without input in this page
 */
export function watchInput(onIdle: () => void): () => void {
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
  return restart;
}

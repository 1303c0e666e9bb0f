/** Notices that no tab of the console is used. Tabs may share a session, which the first one that locks would end. */

const idleMs = 30 * 60_000;
/** Other tabs need not know each input. */
const announceMs = 20_000;

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

  const channel = new BroadcastChannel('curd.console.input');
  let announcedAt = 0;
  channel.onmessage = restart;
  function onInput(): void {
    restart();
    if (Date.now() - announcedAt >= announceMs) {
      announcedAt = Date.now();
      channel.postMessage(null);
    }
  }

  for (const type of ['pointerdown', 'keydown', 'scroll']) {
    window.addEventListener(type, onInput, { passive: true, capture: true });
  }
  restart();
  return restart;
}

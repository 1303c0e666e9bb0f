/** Keeps the statistics on a screen current. */
import { useEffect } from 'react';
import { live } from '../data/live.ts';
import { invalidate } from './action.ts';

/** The server counts new events every two seconds. */
const countedMs = 3000;
/** Late orders, and the comparison with the week before, change without an event. */
const refreshMs = 5 * 60_000;

export function useFreshFigures(): void {
  useEffect(() => {
    let timer: number | undefined;
    const refresh = () => {
      timer = undefined;
      void invalidate('statistics');
    };
    const stop = live.onEvent(({ type }) => {
      if (/^(order|customer)\./.test(type)) {
        timer ??= window.setTimeout(refresh, countedMs);
      }
    });
    // What happened just before this screen was opened may not be counted yet.
    timer = window.setTimeout(refresh, countedMs);
    const interval = window.setInterval(() => void invalidate('statistics', 'orders'), refreshMs);
    return () => {
      stop();
      window.clearTimeout(timer);
      window.clearInterval(interval);
    };
  }, []);
}

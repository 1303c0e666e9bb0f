/** A time in the local zone; UTC on hover. All ages of the page change at the same moment. */
import { useSyncExternalStore } from 'react';
import { showAge, showShortTime, showTime } from './format.ts';

const tickMs = 15_000;

/** How far the clock of the shop is ahead of that of the browser, outside of production. */
let aheadMs = 0;
/** The time of the shop. */
export const shopNow = (): number => Date.now() + aheadMs;

let now = shopNow();
let timer: number | undefined;
const listeners = new Set<() => void>();

function tick(): void {
  now = shopNow();
  for (const listener of listeners) {
    listener();
  }
}

/** Lets all ages follow the clock of the shop. */
export function setTimeAhead(milliseconds: number): void {
  if (milliseconds !== aheadMs) {
    aheadMs = milliseconds;
    tick();
  }
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    now = shopNow();
    timer = window.setInterval(tick, tickMs);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      window.clearInterval(timer);
    }
  };
}

interface Props {
  /** ISO 8601. */
  readonly at: string;
  /** Shows "2min ago" and keeps it current. */
  readonly isRelative?: boolean;
  /** True shows seconds, for what is ordered by time. */
  readonly isExact?: boolean;
}

export function Time({ at, isRelative = false, isExact = false }: Props) {
  return (
    <time dateTime={at} className="time" title={`${showTime(at)} (${at})`}>
      {isRelative ? <Age at={at} /> : isExact ? showTime(at) : showShortTime(at)}
    </time>
  );
}

/** A time to come: "in 5min". */
export function Until({ at }: Pick<Props, 'at'>) {
  return Date.parse(at) - shopNow() < 60_000 ? 'within a minute' : <Time at={at} isRelative />;
}

/** "2min ago", kept current. Only a text that changes is rendered again. */
export function Age({ at }: { readonly at: string }) {
  return useSyncExternalStore(subscribe, () => showAge(at, now));
}

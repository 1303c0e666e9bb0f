/** A time in the local zone; UTC on hover. */
import { useEffect, useState } from 'react';
import { showAge, showShortTime, showTime } from './format.ts';

interface Props {
  /** ISO 8601. */
  readonly at: string;
  /** Shows "2min ago" and keeps it current. */
  readonly isRelative?: boolean;
  /** With seconds, for what is ordered by time. */
  readonly isExact?: boolean;
}

export function Time({ at, isRelative = false, isExact = false }: Props) {
  const [, setTick] = useState(0);
  useEffect(() => {
    if (!isRelative) {
      return;
    }
    const timer = window.setInterval(() => setTick((tick) => tick + 1), 30_000);
    return () => window.clearInterval(timer);
  }, [isRelative]);
  return (
    <time dateTime={at} className="time" title={`${showTime(at)} (${at})`}>
      {isRelative ? showAge(at) : isExact ? showTime(at) : showShortTime(at)}
    </time>
  );
}

/** A time in the local zone; UTC on hover. */
import { Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';
import { showAge, showTime } from './format.ts';

interface Props {
  /** ISO 8601. */
  readonly at: string;
  /** Shows "2 minutes ago" and keeps it current. */
  readonly isRelative?: boolean;
}

export function Time({ at, isRelative = false }: Props) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isRelative) {
      return;
    }
    const timer = window.setInterval(() => setNow(Date.now()), 30_000);
    return () => window.clearInterval(timer);
  }, [isRelative]);
  return (
    <Tooltip label={isRelative ? `${showTime(at)} (${at})` : at}>
      <time dateTime={at}>{isRelative ? showAge(at, now) : showTime(at)}</time>
    </Tooltip>
  );
}

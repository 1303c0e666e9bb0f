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
  const [, setTick] = useState(0);
  useEffect(() => {
    if (!isRelative) {
      return;
    }
    const timer = window.setInterval(() => setTick((tick) => tick + 1), 30_000);
    return () => window.clearInterval(timer);
  }, [isRelative]);
  return (
    <Tooltip label={isRelative ? `${showTime(at)} (${at})` : at}>
      <time dateTime={at}>{isRelative ? showAge(at) : showTime(at)}</time>
    </Tooltip>
  );
}

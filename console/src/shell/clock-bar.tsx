/** A bar on every screen while the clock of the shop is ahead. */
import { Button } from '@mantine/core';
import { useEffect } from 'react';
import { toMsAhead, useShopClock } from '../data/clock.ts';
import { useSignedIn } from '../data/queries.ts';
import { useAdvance } from '../parts/advance.ts';
import { setTimeAhead, Time } from '../parts/text/time.tsx';

export function ClockBar() {
  const { person } = useSignedIn();
  const { data } = useShopClock();
  const { advance, isRunning } = useAdvance();
  const ahead = data === undefined ? 0 : toMsAhead(data);
  useEffect(() => setTimeAhead(ahead), [ahead]);
  if (data === undefined || ahead === 0) {
    return null;
  }
  return (
    <section aria-label="Time of the shop" className="card clock-bar no-print">
      <span>
        The clock of the shop is ahead: it is <Time at={data.now} isExact /> there.
      </span>
      {person.isAdmin ? (
        <Button
          size="compact-sm"
          variant="default"
          loading={isRunning}
          onClick={() => void advance({ advance: '1h' })}
        >
          1 hour more
        </Button>
      ) : null}
    </section>
  );
}

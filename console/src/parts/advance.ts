/** Moves the clock of the shop, and says what became due on the way. */
import type { Body, Result } from '../../../client/src/index.ts';
import { queryClient, useCurd } from '../data/queries.ts';
import { useAction } from './action.ts';
import { notifications } from './notifications.tsx';
import { locale, showNumber, showTime } from './text/format.ts';

type Advance = Body<'advanceSandboxClock'>;
type Did = Result<'advanceSandboxClock'>['did'];

const list = new Intl.ListFormat(locale, { type: 'conjunction' });

/** "3 orders approved and 7 deliveries of webhooks attempted"; empty if nothing was due. */
function describe({ approved, cancelled, shipped, delivered, deliveries }: Did): string {
  const orders = Object.entries({ approved, cancelled, shipped, delivered })
    .filter(([, count]) => count > 0)
    .map(([verb, count]) => `${showNumber(count)} ${count === 1 ? 'order' : 'orders'} ${verb}`);
  const webhooks =
    deliveries === 0
      ? []
      : [`${showNumber(deliveries)} ${deliveries === 1 ? 'delivery' : 'deliveries'} of webhooks attempted`];
  return list.format([...orders, ...webhooks]);
}

export function useAdvance() {
  const curd = useCurd();
  const { run, isRunning } = useAction();
  async function advance(by: Advance): Promise<void> {
    await run(null, async () => {
      const { now, did, more } = await curd.sandbox.advanceClock(by);
      const done = describe(did);
      notifications.show({
        title: `It is ${showTime(now)} in the shop.`,
        message: `${done === '' ? 'Nothing was due.' : `${done}.`}${more ? ' More is due: move the clock again.' : ''}`,
      });
    });
    // Sessions, quotas, orders and figures may have changed.
    await queryClient.invalidateQueries();
  }
  return { advance, isRunning };
}

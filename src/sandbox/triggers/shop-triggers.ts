/** Events of the whole shop. */
import type { KeyService } from '../../auth/keys/service.ts';
import { type Clock, timestamp } from '../../clock.ts';
import { commandName } from '../../command-name.ts';
import { AppError } from '../../errors.ts';
import { withdrawnEvent } from '../../event-log/define.ts';
import { recordEvents } from '../../event-log/record.ts';
import type { ShopService } from '../../shop/service.ts';
import { randomText, type Triggers } from './trigger.ts';

interface Dependencies {
  readonly clock: Clock;
  readonly keys: KeyService;
  readonly shopService: ShopService;
}

export function shopTriggers({ clock, keys, shopService }: Dependencies): Triggers {
  return {
    'shop.reset': {
      kind: null,
      run: () => {
        throw new AppError(
          'conflict',
          `shop.reset is the event of a reset, which deletes cheeses, orders and customers. If you want that, send POST /v2/sandbox/reset, or run "${commandName} reset".`,
        );
      },
    },
    'shop.changed': {
      kind: null,
      async run({ context }) {
        await shopService.change(context, { phone: `+1 555 ${randomText(clock, 4)}` });
        return 'shop';
      },
    },
    'shop.event_withdrawn': {
      kind: null,
      async run({ context }) {
        await context.transaction(async (tx) => {
          // Events are recorded after a change in their transaction (event-log/record.ts).
          const within = { ...context, transaction: <T>(work: (sql: typeof tx) => Promise<T>) => work(tx) };
          await keys.createAccount(within, `test-${randomText(clock, 6)}`);
          await recordEvents(tx, context.origin, timestamp(clock.now()), [withdrawnEvent()]);
        });
        return 'shop';
      },
    },
  };
}

/** Resets a shop: everything is deleted but accounts, keys, applications and webhook endpoints, and the demo is filled in. */

import { type Clock, timestamp } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import type { Database } from '../../database/database.ts';
import type { ShopProfile } from '../../shop/profile.ts';
import type { TestState } from '../test-state.ts';
import type { SnapshotCopies } from './copies.ts';
import { continueAfter } from './empty-shop.ts';
import type { RunExclusively } from './exclusive.ts';

/** Fills an empty shop as a first start does. */
export interface DemoFill {
  catalogue(context: Context): Promise<void>;
  imagesAndOrders(context: Context): Promise<void>;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly testState: TestState;
  readonly profile: Pick<ShopProfile, 'read'>;
  readonly copies: SnapshotCopies;
  readonly runExclusively: RunExclusively;
  /** @throws AppError conflict for a shop that is not reset or restored */
  readonly requireReplaceable: () => Promise<void>;
  readonly demoFill: DemoFill;
}

/** Returns the time of the shop afterwards. @throws AppError conflict, unavailable */
export type ResetShop = (context: Context) => Promise<string>;

export function createReset(dependencies: Dependencies): ResetShop {
  const {
    database,
    clock,
    testState,
    profile,
    copies,
    runExclusively,
    requireReplaceable,
    demoFill: demo,
  } = dependencies;
  return (context) =>
    runExclusively(async () => {
      await requireReplaceable();
      // The last of several transactions stores the response of an idempotency key.
      // The demo is made by the system, as at a first start: it ticks no first steps of the console.
      const origin = { ...context.origin, actor: 'system' };
      const plain = { origin, transaction: database.transaction };
      const before = await copies.empty(context.origin);
      await Promise.all([testState.refresh(), profile.read()]);
      await demo.catalogue(plain);
      await database.exclusiveTransaction((tx) => continueAfter(tx, before));
      await demo.imagesAndOrders(plain);
      return await context.transaction(async () => timestamp(clock.now()));
    });
}

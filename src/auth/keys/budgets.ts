/**
 * Budgets of restricted keys: how much each spent by UTC day. A key and the one that replaces it share one budget. The row
 * of the key and day decides, so that concurrent orders on several instances never exceed it.
 */
import { type KeyLimits, parseKeyId } from '../../access/key-limits.ts';
import type { Principal } from '../../access/principal.ts';
import { type Clock, timestamp } from '../../clock.ts';
import type { Database, Sql } from '../../database/database.ts';
import { purgeInSlices } from '../../database/purge.ts';
import { wholeCents } from '../../decimal.ts';
import { AppError } from '../../errors.ts';
import type { Site } from '../../http/area.ts';
import { showMoney } from '../../schema/money-text.ts';
import { spendingQueries } from './spending-queries.ts';

const dayMs = 24 * 60 * 60_000;
const keptDays = 400;

export interface Today {
  readonly dollars: number;
  readonly orders: number;
  /** null without such a limit. */
  readonly dollarsLeft: number | null;
  readonly ordersLeft: number | null;
}

export type KeyBudgets = ReturnType<typeof createKeyBudgets>;

const dayOf = (ms: number) => timestamp(ms).slice(0, 10);

export function createKeyBudgets(database: Database, clock: Clock, site: () => Site) {
  const show = (cents: number) => showMoney(cents, { currency: site().currency });

  /** @param cents the total of the order */
  function refusal(
    cents: number,
    { dollarsPerDay, ordersPerDay }: KeyLimits,
    { dollarsLeft, ordersLeft }: Today,
  ): AppError {
    const now = clock.now();
    const resetMs = dayMs - (now % dayMs);
    const parts = [
      ...(dollarsLeft === null
        ? []
        : [`${show(wholeCents(dollarsPerDay ?? 0))}, ${show(wholeCents(dollarsLeft))} left`]),
      ...(ordersLeft === null
        ? []
        : [`${ordersPerDay} ${ordersPerDay === 1 ? 'order' : 'orders'}, ${ordersLeft} left`]),
    ];
    const limit = dollarsPerDay ?? ordersPerDay ?? 0;
    const remaining = dollarsLeft ?? ordersLeft ?? 0;
    return new AppError(
      'rateLimited',
      `The order of ${show(cents)} would exceed what this key may spend in a day: ${parts.join(' and ')}. Nothing was ordered. Order less, wait until midnight UTC, or use a key with a larger budget.`,
      {
        details: {
          retryAfterMs: resetMs,
          limits: [
            {
              policy: 'spend',
              limit: Math.floor(limit),
              windowSeconds: 86_400,
              remaining: Math.floor(remaining),
              resetMs,
            },
          ],
        },
      },
    );
  }

  async function today(tx: Sql, actor: string, { dollarsPerDay, ordersPerDay }: KeyLimits): Promise<Today> {
    const row = await spendingQueries(tx).find(parseKeyId(actor), dayOf(clock.now()));
    const { cents = 0, orders = 0 } = row ?? {};
    return {
      dollars: cents / 100,
      orders,
      dollarsLeft: dollarsPerDay === undefined ? null : Math.max(0, wholeCents(dollarsPerDay) - cents) / 100,
      ordersLeft: ordersPerDay === undefined ? null : Math.max(0, ordersPerDay - orders),
    };
  }

  return {
    /** Counts an order in its transaction. @throws AppError rateLimited when it exceeds the budget of the day */
    async spend(tx: Sql, { id, limits: given }: Pick<Principal, 'id' | 'limits'>, cents: number) {
      const limits = given ?? {};
      const maxCents = limits.dollarsPerDay === undefined ? null : wholeCents(limits.dollarsPerDay);
      // The first order of a day inserts the row, without a condition.
      const isTooMuch = maxCents !== null && cents > maxCents;
      const changed = isTooMuch
        ? 0
        : await spendingQueries(tx).add({
            keyId: parseKeyId(id),
            day: dayOf(clock.now()),
            cents,
            maxCents,
            maxOrders: limits.ordersPerDay ?? null,
          });
      if (changed === 0) {
        throw refusal(cents, limits, await today(tx, id, limits));
      }
    },

    /** What a key spent today, and what is left. */
    today: (actor: string, limits: KeyLimits) => today(database, actor, limits),

    /** Days on which a key ordered, the newest first. */
    list: (actor: string) => spendingQueries(database).list(parseKeyId(actor), keptDays),

    /** Deletes old days. */
    purge() {
      const before = dayOf(clock.now() - keptDays * dayMs);
      return purgeInSlices(database, (tx, limit) => spendingQueries(tx).deleteBefore(before, limit));
    },
  };
}

/** Tiers of customers, by what was delivered to them in all. */
import type { TierThresholds } from '../settings/config.ts';

export const tiers = ['bronze', 'silver', 'gold', 'platinum'] as const;
export type Tier = (typeof tiers)[number];

/** The tier of a customer to whom goods of so many cents were delivered; thresholds are in US dollars. */
export function tierOf(deliveredCents: number, thresholds: TierThresholds): Tier {
  const reached = (['platinum', 'gold', 'silver'] as const).find(
    (tier) => deliveredCents >= Math.round(thresholds[tier] * 100),
  );
  return reached ?? 'bronze';
}
